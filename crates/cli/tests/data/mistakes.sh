#! Mistakes for `mistakes.rs`: a title after `#`, preparations after `%`, commands whose answers are shown after `$`.

# a misspelt command
$ aske bnech

# no command
$ aske | head -3

# a misspelt flag
$ aske bench --sample 3

# a flag of another command
$ aske report --run runs/mine
$ aske models --rounds 3

# a flag without its value
$ aske bench --asker

# a word where a number is expected
$ aske bench --samples many
$ aske bench --budget-usd free
$ aske eval --limit -1

# a number out of range
$ aske bench --samples 0
$ aske bench --rounds -1
$ aske bench --until 80
$ aske bench --seed 9223372036854775808
$ aske audit --draws 1
$ aske serve models --port 99999

# a part that does not exist
$ aske bench --shard 9/8

# flags that exclude each other
$ aske bench --set small --solvers nano-40k,nano-1m

# a misspelt model
$ aske bench --asker nano-askr
$ aske ask nano-40k nano-1mm
$ aske models nano-1mm
$ aske models pull qwen3-1.7

# one solver instead of two
$ aske ask nano-40k
$ aske ask nano-1m nano-1m
$ aske bench --solvers nano-1m

# a pair that is not in the set
$ aske bench --pairs nano-40k:nano-99m
$ aske bench --pairs nano-40k:nano-1m:nano-2m

# an asker that cannot answer
$ aske bench --check staircase

# an unknown boundary set
$ aske bench --set ful

# an unknown configuration
$ aske bench --config papre-bench
$ aske bench --config mine.toml

# a configuration with a syntax error
% printf '[run\nsamples = 3\n' > broken.toml
$ aske bench --config broken.toml

# a configuration with a misspelt key
% printf '[run]\nsampels = 3\n' > misspelt.toml
$ aske bench --config misspelt.toml
$ aske bench -o run.sampels=3
$ ASKE_RUN_SAMPELS=3 aske bench

# a configuration with a value of the wrong type
% printf '[run]\nsamples = "many"\n' > words.toml
% printf '[run]\nsamples = -3\n' > negative.toml
% printf '[run]\nsamples = 2.5\n' > fraction.toml
% printf '[boundary]\nsolvers = "nano-1m"\n' > list.toml
% printf 'extends = "nano"\n[models.nano-1m]\nprovider = "opnai"\n' > kind.toml
$ aske bench --config words.toml
$ aske bench --config negative.toml
$ aske bench --config fraction.toml
$ aske bench --config list.toml
$ aske bench --config kind.toml
$ aske bench -o run.samples=many
$ ASKE_RUN_SAMPLES=many aske bench
$ aske bench -o samples

# a configuration that is a folder, or not text
% mkdir -p folder.toml
% printf '\377\376' > binary.toml
$ aske bench --config folder.toml
$ aske bench --config binary.toml

# a key of the configuration that does not exist
$ aske config rum

# a key that is not set
% printf 'extends = "nano"\n[models.mine]\nprovider = "openai"\nurl = "{good}"\nmodel = "asker"\napi_key_env = "MY_KEY"\nlimits = { attempts = 1 }\n' > key.toml
$ aske bench --config key.toml --asker mine

# a key in the file instead of the name of its variable
% printf 'extends = "nano"\n[models.mine]\nprovider = "openai"\nurl = "{good}"\napi_key = "sk-0123456789abcdef"\n' > secret.toml
$ aske bench --config secret.toml --asker mine

# a wrong key
% printf 'extends = "nano"\n[models.mine]\nprovider = "openai"\nurl = "{denied}"\nmodel = "gpt-6"\napi_key_env = "MY_KEY"\nlimits = { attempts = 1 }\n' > denied.toml
$ MY_KEY=sk-wrong aske models mine --config denied.toml

# a server that does not know the model
% printf 'extends = "nano"\n[models.mine]\nprovider = "openai"\nurl = "{unknown}"\nmodel = "gpt-6"\nlimits = { attempts = 1 }\n' > unknown.toml
$ aske models mine --config unknown.toml

# a server that is not running
% printf 'extends = "nano"\n[models.mine]\nprovider = "openai"\nurl = "http://127.0.0.1:9/v1"\nlimits = { attempts = 1 }\n' > dead.toml
$ aske models mine --config dead.toml

# a web page instead of an API
% printf 'extends = "nano"\n[models.mine]\nprovider = "openai"\nurl = "{page}"\nlimits = { attempts = 1 }\n' > page.toml
$ aske models mine --config page.toml

# an address with a password, or without a model
$ aske bench --asker http://user:secret@127.0.0.1:9/v1#mine
$ aske bench --asker http://127.0.0.1:9/v1

# a checkpoint that is not there
$ aske bench --asker models/gemma
$ aske bench --asker missing.gguf
$ aske convert missing.gguf out

# a script with a mistake
% printf '{"reply": "fine"}\n{"repyl": "not"}\n' > script.jsonl
% printf 'extends = "nano"\n[models.nano-1m]\nprovider = "scripted"\nscript = "script.jsonl"\n' > script.toml
% printf 'extends = "nano"\n[models.nano-1m]\nprovider = "scripted"\nscript = "none.jsonl"\n' > no-script.toml
$ aske bench --config script.toml
$ aske bench --config no-script.toml

# prompts that are missing or incomplete
$ aske bench -o protocol.prompts=prompts
% aske prompts export prompts && rm prompts/no_reply.txt
$ aske prompts check prompts
$ aske prompts export prompts

# an unknown dataset
$ aske eval --data gsm8k
$ aske eval --data missing.csv
$ aske eval --data paper

# a dataset without its columns
% printf 'question,solution\nWhat is 1 + 1?,2\n' > columns.csv
% printf '{"problem": "What is 1 + 1?"}\n' > answers.jsonl
$ aske eval --data columns.csv
$ aske eval --data answers.jsonl

# pairs that cannot be compared
% printf '{"gold": "1", "pred": "1"}\n{"gold": "1"}\nnot json\n' > pairs.jsonl
$ aske verify --jsonl pairs.jsonl
$ aske verify --jsonl none.jsonl
$ aske verify 1
$ aske verify 1 1 --policy units=maybe

# a file that holds no rollouts
$ aske import pairs.jsonl --out runs/theirs
$ aske import none.jsonl --out runs/theirs
$ aske import pairs.jsonl

# no run yet
$ aske report
$ aske view
$ aske audit
$ aske export

# a folder that holds no run
% mkdir -p empty
$ aske report empty
$ aske report missing
$ aske report aske.toml
$ aske audit empty
$ aske repair missing
$ aske bench --run /dev/null

# a changed experiment in the usual folder
% aske bench --limit 1 --asker fixed
$ aske bench --limit 1 --asker fixed --rounds 2
$ aske bench --limit 1 --asker fixed --rounds 2

# a changed experiment in a named folder
% aske bench --limit 1 --asker fixed --run mine
$ aske bench --limit 1 --asker fixed --run mine --rounds 2 --seed 5
$ aske bench --limit 1 --asker staircase --run mine

# a changed experiment with models that cost money
% printf 'extends = "nano"\n[models.fixed]\nprice = { input = 1.0, output = 2.0 }\n' > priced.toml
% aske bench --limit 1 --asker fixed --config priced.toml
$ aske bench --limit 1 --asker fixed --config priced.toml --rounds 2
$ aske bench --limit 1 --asker fixed --config priced.toml --rounds 2 --new > out.txt

# a folder of a newer version
% cp -r mine newer && sed -i 's/^schema = 1$/schema = 99/; s/^aske = .*/aske = "7.0.0"/' newer/run.toml
$ aske report newer
$ aske bench --run newer --asker fixed

# two runs in one folder
$ flock mine/lock aske bench --limit 2 --asker fixed --run mine

# an interrupted run, and what is left of it
% printf 'extends = "nano"\n[models.mine]\nprovider = "openai"\nurl = "{slow}"\nmodel = "asker"\n' > slow.toml
$ aske bench --config slow.toml --asker mine --limit 3 --run slow --no-probe & sleep 4; kill -INT $!; sleep 2; kill -INT $!; wait $!
$ aske report slow

# a damaged run
% cp -r mine damaged && printf '{"pair": "a' | cat - mine/records.jsonl > damaged/records.jsonl
$ aske report damaged
$ aske bench --limit 2 --asker fixed --run damaged
$ aske repair damaged
% cp -r mine half && head -c 100 mine/run.toml > half/run.toml
$ aske report half
% cp -r mine database && echo garbage > database/calls.sqlite && rm -f database/calls.sqlite-wal
$ aske bench --limit 2 --asker fixed --run database

# one good and one damaged folder
$ aske report mine half | tail -1

# runs that do not belong together
% aske bench --limit 1 --asker fixed --run other --seed 9
$ aske merge whole mine other
$ aske merge mine mine other
$ aske merge whole

# grades that do not exist
$ aske report mine --grader opus
$ aske regrade mine

# a file that cannot be written
% mkdir -p locked && chmod 555 locked
$ unprivileged aske report mine --html locked/report.html
$ unprivileged aske bench --limit 1 --asker fixed --run locked/run
$ aske report mine --html missing/report.html
$ aske export mine --out bank.xlsx

# a file that cannot be read
% cp mine/run.toml unreadable.toml && chmod 000 unreadable.toml
$ unprivileged aske bench --config unreadable.toml

# a port that is taken or not allowed, and an address of another machine
$ aske serve models nano-15k --port {port}
$ ASKE_TOKEN=0123456789abcdef0123456789abcdef aske view mine --host 192.0.2.1

# two evaluations that cannot be compared
$ aske eval compare mine mine
$ aske eval compare mine

# settings that cannot be trained
$ aske train --steps 0
$ aske train -o train.loss=ppo
$ aske train --check nano-check

# a machine without GPUs
$ aske fleet plan --config paper-bench --gpus 5
$ aske fleet plan --gpus 1x80
$ aske fleet status

# unknown names of the nano world
$ aske nano table --only nano-3m
$ aske nano questions --level 99
$ aske nano train --device tpu
$ aske completions csh

# pairs of a measurement that overlap
$ aske difficulty --easy nano-15k:nano-40k --hard nano-40k:nano-15k

# a narrow terminal
$ COLUMNS=60 aske bench --samples 1 --asker fixed --dry-run
$ COLUMNS=60 aske models
$ COLUMNS=60 aske report mine
$ COLUMNS=60 aske regrade --help

# a pipe that is closed
$ aske models | head -1
