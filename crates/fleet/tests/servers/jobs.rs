//! Files for schedulers: the Slurm script is run, the Kubernetes file is read.

use crate::support::{World, model, plan};
use aske_fleet::{KubernetesOptions, Model, Server, SlurmOptions, kubernetes, slurm};
use std::process::{Command, Stdio};

fn options() -> SlurmOptions {
    let bench = ["aske", "fleet", "bench", "--config", "my file.toml"].map(str::to_owned).into();
    SlurmOptions { partition: Some("gpu".to_owned()), time: "12:00:00".to_owned(), bench }
}

#[tokio::test]
async fn the_slurm_script_starts_every_server_on_its_gpu_and_ends_with_one() {
    let world = World::new();
    let models: Vec<Model> =
        ["good-1", "good-2", "good-3"].iter().map(|hub| Model { params: Some(15.0), ..model(hub) }).collect();
    let plan = plan(&models, "2x141");
    let text = slurm(&plan, &options());
    assert!(text.starts_with("#!/bin/bash\n#SBATCH --job-name=aske-fleet\n"), "{text}");
    assert!(text.contains("#SBATCH --gpus-per-node=2\n") && text.contains("#SBATCH --partition=gpu\n"));
    std::fs::write(world.path("job.sh"), &text).unwrap();
    // A group of its own, as in a job: `kill 0` ends all of it.
    let mut command = Command::new("bash");
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let said = || std::fs::read_to_string(world.path("said")).unwrap_or_default();
    let out = std::fs::File::create(world.path("said")).unwrap();
    let mut job = command
        .arg("job.sh")
        .current_dir(world.path(""))
        .env("VLLM", world.program())
        .env("POLL", "0.1")
        .env("CUDA_VISIBLE_DEVICES", "4,7")
        .stdin(Stdio::null())
        .stdout(out.try_clone().unwrap())
        .stderr(out)
        .spawn()
        .unwrap();
    let answers =
        |server: &Server| said().contains(&format!("{} is ready on port {}", server.model.name, server.port));
    world.until("all answer", || plan.servers.iter().all(answers)).await;
    // One of them ends, and the job with it.
    let pid = world.events()[0]["pid"].to_string();
    assert!(Command::new("kill").arg(pid).status().unwrap().success());
    let mut ended = None;
    world
        .until("the job ends", || {
            ended = job.try_wait().unwrap();
            ended.is_some()
        })
        .await;
    assert!(!ended.unwrap().success(), "{}", said());
    for placed in plan.running(0) {
        let hub = &plan.servers[placed.server].model.hub;
        let started = world.events().into_iter().find(|event| event["hub"] == **hub).unwrap();
        assert_eq!(started["gpus"], ["4", "7"][placed.gpus[0]]);
    }
    world.until("all have ended", || world.running().is_empty()).await;
}

/// The script of the only pod of a plan, with folders that a test may write to.
fn pod_script(world: &World, models: &[Model]) -> String {
    let wanted = KubernetesOptions { image: "vllm".to_owned(), namespace: "mine".to_owned() };
    let text = kubernetes(&plan(models, "1x141"), &wanted).unwrap();
    let lines = text.lines().skip_while(|line| *line != "            - |").skip(1);
    let script: Vec<&str> = lines.map_while(|line| line.strip_prefix("              ")).collect();
    let folder = world.path("").display().to_string();
    script.join("\n").replace("/var/log/fleet", &folder).replace("/tmp/ready", &format!("{folder}/ready"))
}

#[tokio::test]
async fn a_pod_is_not_ready_if_a_server_fails() {
    for hubs in [["oom", "good"], ["good", "oom"]] {
        let world = World::new();
        let script = pod_script(&world, &hubs.map(model));
        let mut command = Command::new("bash");
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut pod = command
            .args(["-c", &script])
            .env("VLLM", world.program())
            .env("POLL", "0.1")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(std::fs::File::create(world.path("said")).unwrap())
            .spawn()
            .unwrap();
        let (mut ended, mut ready) = (None, false);
        world
            .until("the pod ends or is ready", || {
                ended = pod.try_wait().unwrap();
                ready = world.path("ready").exists();
                ended.is_some() || ready
            })
            .await;
        // A container ends with its first process; here, what is left of the group is ended by hand.
        let _ =
            Command::new("kill").args(["-9", "--", &format!("-{}", pod.id())]).stderr(Stdio::null()).status();
        pod.wait().unwrap();
        let said = std::fs::read_to_string(world.path("said")).unwrap();
        assert!(!ready, "{hubs:?}: {said}");
        assert!(ended.is_some_and(|ended| !ended.success()), "{hubs:?}: {said}");
        assert!(said.contains("oom exited while starting"), "{hubs:?}: {said}");
    }
}

#[test]
fn a_plan_in_phases_is_run_by_the_benchmark() {
    let models: Vec<Model> =
        (0..4).map(|at| Model { params: Some(25.0), ..model(&format!("good-{at}")) }).collect();
    let plan = plan(&models, "1x141");
    let text = slurm(&plan, &options());
    assert!(text.ends_with("exec aske fleet bench --config 'my file.toml'\n"), "{text}");
    assert!(
        kubernetes(&plan, &KubernetesOptions { image: String::new(), namespace: String::new() }).is_none()
    );
}

#[test]
fn kubernetes_has_a_pod_for_every_gpu_and_a_port_for_every_server() {
    let models: Vec<Model> =
        ["good-1", "good-2", "good-3"].iter().map(|hub| Model { params: Some(15.0), ..model(hub) }).collect();
    let plan = plan(&models, "2x141");
    let wanted =
        KubernetesOptions { image: "vllm/vllm-openai:v0.17.0".to_owned(), namespace: "mine".to_owned() };
    let text = kubernetes(&plan, &wanted).unwrap();
    assert_eq!(text.matches("kind: Deployment").count(), 2);
    assert_eq!(text.matches("kind: Service").count(), 2);
    assert_eq!(text.matches("nvidia.com/gpu: 1").count(), 2);
    for server in &plan.servers {
        assert_eq!(text.matches(&format!("port: {}", server.port)).count(), 1);
        assert!(text.contains(&format!(
            "serve {} {} \"0\" serve {}",
            server.model.name, server.port, server.model.hub
        )));
    }
    // Each document is the YAML it seems to be, where Python can tell.
    let check = "import sys, yaml; print(sum(d['kind'] in ('Deployment', 'Service') for d in yaml.safe_load_all(sys.stdin)))";
    if Command::new("python3").args(["-c", "import yaml"]).output().is_ok_and(|ran| ran.status.success()) {
        let folder = World::new();
        std::fs::write(folder.path("fleet.yaml"), &text).unwrap();
        let file = std::fs::File::open(folder.path("fleet.yaml")).unwrap();
        let read = Command::new("python3").args(["-c", check]).stdin(file).output().unwrap();
        assert_eq!(
            String::from_utf8_lossy(&read.stdout).trim(),
            "4",
            "{}",
            String::from_utf8_lossy(&read.stderr)
        );
    }
}
