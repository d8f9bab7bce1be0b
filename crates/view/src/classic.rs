//! Turns the modules of the page into one classic script: browsers refuse modules on pages without a server.
//!
//! The modules use a part of the syntax only: `import { a, b as c } from "./x.js";`, and `export` before a declaration.

use std::collections::BTreeMap;
use std::fmt::Write;

/// One script with all modules that `entry` needs, each in a function of its own, in the order of their imports.
pub(crate) fn script(modules: &BTreeMap<&str, &str>, entry: &str) -> Result<String, String> {
    let mut done = BTreeMap::new();
    let mut script = String::from("\"use strict\";\n(() => {\nconst modules = {};\n");
    add(modules, entry, &mut done, &mut script)?;
    script.push_str("})();\n");
    Ok(script)
}

fn add<'m>(
    modules: &BTreeMap<&'m str, &'m str>,
    name: &str,
    done: &mut BTreeMap<String, bool>,
    script: &mut String,
) -> Result<(), String> {
    match done.get(name) {
        Some(true) => return Ok(()),
        Some(false) => return Err(format!("{name} imports itself, through other modules")),
        None => done.insert(name.to_owned(), false),
    };
    let source = modules.get(name).ok_or_else(|| format!("there is no module {name}"))?;
    let (mut body, mut exports) = (String::new(), Vec::new());
    let mut lines = source.lines();
    while let Some(line) = lines.next() {
        if line.starts_with("import ") {
            let mut whole = line.to_owned();
            while !whole.ends_with(';') {
                whole.push_str(lines.next().ok_or_else(|| format!("{name}: an import does not end"))?);
            }
            let (names, from) = import(&whole).ok_or_else(|| format!("{name}: {whole}"))?;
            add(modules, from, done, script)?;
            let _ = writeln!(body, "const {{ {names} }} = modules[\"{from}\"];");
        } else if let Some(rest) = line.strip_prefix("export ") {
            exports.push(declared(rest).ok_or_else(|| format!("{name}: {line}"))?.to_owned());
            body.push_str(rest);
            body.push('\n');
        } else {
            body.push_str(line);
            body.push('\n');
        }
    }
    let exports = exports.join(", ");
    let _ = write!(script, "modules[\"{name}\"] = (() => {{\n{body}return {{ {exports} }};\n}})();\n");
    done.insert(name.to_owned(), true);
    Ok(())
}

/// The names of an import as a pattern, and the module.
fn import(line: &str) -> Option<(String, &str)> {
    let (names, from) = line.strip_prefix("import {")?.split_once("} from \"./")?;
    Some((names.trim().trim_end_matches(',').replace(" as ", ": "), from.strip_suffix("\";")?))
}

/// The name that a declaration declares.
fn declared(rest: &str) -> Option<&str> {
    let rest = rest.strip_prefix("async ").unwrap_or(rest);
    let kinds = ["function* ", "function ", "const ", "let ", "class "];
    let rest = kinds.into_iter().find_map(|kind| rest.strip_prefix(kind))?;
    let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '$')?;
    (end > 0).then(|| &rest[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_become_functions_in_the_order_of_their_imports() {
        let modules = BTreeMap::from([
            ("a.js", "import { x as y,\n  f } from \"./b.js\";\nf(y);\n"),
            ("b.js", "export const x = 1;\nexport async function f(a) {\n  return a;\n}\n"),
        ]);
        assert_eq!(
            script(&modules, "a.js").unwrap(),
            "\"use strict\";\n(() => {\nconst modules = {};\n\
             modules[\"b.js\"] = (() => {\nconst x = 1;\nasync function f(a) {\n  return a;\n}\nreturn { x, f };\n})();\n\
             modules[\"a.js\"] = (() => {\nconst { x: y,  f } = modules[\"b.js\"];\nf(y);\nreturn {  };\n})();\n})();\n"
        );
    }

    #[test]
    fn other_syntax_and_circles_are_refused() {
        let one = |source| script(&BTreeMap::from([("a.js", source)]), "a.js").unwrap_err();
        for source in [
            "import x from \"./b.js\";\n",
            "export { x };\n",
            "export default 1;\n",
            "import { x } from \"./c.js\";\n",
        ] {
            assert!(one(source).contains(".js"), "{source}");
        }
        let circle = BTreeMap::from([
            ("a.js", "import { b } from \"./b.js\";\n"),
            ("b.js", "import { a } from \"./a.js\";\n"),
        ]);
        assert!(script(&circle, "a.js").unwrap_err().contains("imports itself"));
    }

    #[test]
    fn the_page_becomes_one_script() {
        let whole = script(&crate::assets::modules(), "app.js").unwrap();
        assert!(
            !whole.contains("\nimport ")
                && !whole.contains("\nexport ")
                && whole.contains("modules[\"app.js\"]")
        );
    }
}
