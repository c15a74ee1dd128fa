//! Files and commands.

use std::os::unix::fs::symlink;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};

use super::super::{Attack, Row, rows, run_all};
use super::{Armed, CANARY, hidden, refused};

const READ: &str = "the content of a file outside in a result; a file of the workspace is read the same way";

/// Every tool that opens a file, with a path.
fn opened(on: &Armed, path: &str) -> Vec<(&'static str, Value)> {
    vec![
        ("read_file", on.call("read_file", json!({ "path": path }))),
        ("search_files", on.call("search_files", json!({ "pattern": "canary|inside", "path": path }))),
        ("patch", on.call("patch", json!({ "path": path, "old_string": CANARY, "new_string": "x" }))),
        ("terminal", on.call("terminal", json!({ "command": "cat secret.txt", "workdir": path }))),
        ("browser_upload", on.call("browser_upload", json!({ "paths": [path] }))),
    ]
}

const ATTACKS: [Attack<Armed>; 8] = [
    Attack {
        name: "reads files outside of the workspace by path: absolute, with .., with NUL, as an address",
        witness: READ,
        run: |on| {
            let secret = on.text("outside/secret.txt");
            let root = on.text("work");
            for path in [
                secret.clone(),
                on.text("outside"),
                "../outside/secret.txt".to_owned(),
                "none/../../outside/secret.txt".to_owned(),
                "inside.txt/../../outside/secret.txt".to_owned(),
                format!("{root}/../outside/secret.txt"),
                format!("{root}//..//outside/./secret.txt"),
                format!("inside.txt\0{secret}"),
                format!("{secret}\0.txt"),
                format!("file://{secret}"),
                format!("/proc/self/root{secret}"),
                format!("/proc/self/cwd/{secret}"),
                "~/../outside/secret.txt".to_owned(),
                "..\\outside\\secret.txt".to_owned(),
                "%2e%2e/outside/secret.txt".to_owned(),
                "/etc/passwd".to_owned(),
                "/etc".to_owned(),
            ] {
                for (tool, response) in opened(on, &path) {
                    refused(&response, &format!("{tool} {path:?}"))?;
                    hidden(&response, &format!("{tool} {path:?}"))?;
                }
            }
            assert_eq!(on.done("read_file", json!({ "path": "inside.txt" }))["content"], "inside\n");
            Ok(())
        },
    },
    Attack {
        name: "creates links in the workspace that point outside, and reads, searches, patches and writes through them",
        witness: READ,
        run: |on| {
            let links = "P=..; ln -s ../outside l-folder; ln -s ../outside/secret.txt l-file; ln -s /proc/self/root l-root; ln -s l-file l-again; mkdir -p d; ln -s .. d/l-up; ln -s $P/home l-home";
            on.done("terminal", json!({ "command": links }));
            for path in ["l-folder/secret.txt", "l-folder", "l-file", "l-again", "l-home/config.yaml", "l-home/token"] {
                for (tool, response) in opened(on, path) {
                    refused(&response, &format!("{tool} {path}"))?;
                    hidden(&response, &format!("{tool} {path}"))?;
                }
                refused(&on.call("write_file", json!({ "path": path, "content": "x" })), path)?;
            }
            let outside = std::fs::read_to_string(on.path("outside/secret.txt")).unwrap();
            assert!(outside.contains(CANARY), "changed: {outside}");
            let response = on.done("search_files", json!({ "pattern": "canary|inside" }));
            assert!(response["matches"].as_str().unwrap().contains("inside"), "{response}");
            hidden(&response, "search over links")
        },
    },
    Attack {
        name: "replaces a folder by a link that points outside while it is read",
        witness: "the content of the file outside in one of 600 results; the file inside is read at least once",
        run: |on| {
            let work = on.path("work");
            let (real, link) = (work.join("swap-real"), work.join("swap-link"));
            std::fs::create_dir_all(&real).unwrap();
            std::fs::write(real.join("secret.txt"), "inside").unwrap();
            symlink(on.path("outside"), &link).unwrap();
            let (stop, place) = (AtomicBool::new(false), work.join("swap"));
            std::fs::rename(&real, &place).unwrap();
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    while !stop.load(Ordering::Relaxed) {
                        let _ = std::fs::rename(&place, &real).and_then(|()| std::fs::rename(&link, &place));
                        let _ = std::fs::rename(&place, &link).and_then(|()| std::fs::rename(&real, &place));
                    }
                });
                let mut inside = 0;
                let outcome = (0..600).try_for_each(|_| {
                    let response = on.call("read_file", json!({ "path": "swap/secret.txt" }));
                    inside += usize::from(response["content"] == "inside\n");
                    hidden(&response, "swapped")
                });
                stop.store(true, Ordering::Relaxed);
                assert!(inside > 0, "it was never read");
                outcome
            })
        },
    },
    Attack {
        name: "reads the token, the settings and keys of models through hard links, and copies made in the terminal",
        witness: "the token or a key in a result; the terminal reports their length",
        run: |on| {
            on.done("terminal", json!({ "command": "P=..; ln $P/home/token h-token; ln $P/home/llm.json h-llm; ln $P/home/config.yaml h-config; cp $P/home/token c-token" }));
            let response = on.done(
                "terminal",
                json!({ "command": "P=..; wc -c < h-token; cat c-token h-token $P/home/token; echo; cat $P/home/llm.json" }),
            );
            assert!(response["output"].as_str().unwrap().starts_with("64"), "{response}");
            let mut all = vec![response, on.call("read_file", json!({ "path": "c-token" }))];
            for path in ["h-token", "h-llm", "h-config"] {
                all.push(on.call("read_file", json!({ "path": path })));
                refused(&all[all.len() - 1], path)?;
                all.push(on.call("search_files", json!({ "pattern": ".*", "path": path })));
                refused(
                    &on.call(
                        "patch",
                        json!({ "path": path, "old_string": "a", "new_string": "b", "replace_all": true }),
                    ),
                    path,
                )?;
            }
            all.push(on.call("search_files", json!({ "pattern": "[0-9a-f]{64}|sk-" })));
            let found = all
                .iter()
                .find(|response| response.to_string().contains(&on.token) || response.to_string().contains(&on.key));
            found.map_or(Ok(()), |response| Err(response.to_string()))
        },
    },
    Attack {
        name: "enables toolsets for itself by writing settings, models, the token and profiles of the home",
        witness: "changed content of these files, also if the home is inside the workspace",
        run: |_| {
            let on = Armed::working_in(".", "tools: {terminal: {enabled: false}}");
            let files = ["config.yaml", "token", "llm.json"];
            let before = files.map(|name| std::fs::read_to_string(on.path("home").join(name)).unwrap());
            for name in [
                "config.yaml",
                "token",
                "llm.json",
                "profiles/cdpilot/Default/Preferences",
                "run/server.json",
                "./../home/config.yaml",
                "cdpilot.db",
            ] {
                for path in [format!("home/{name}"), on.text(&format!("home/{name}"))] {
                    let content = "tools: {terminal: {enabled: true}}";
                    refused(&on.call("write_file", json!({ "path": path, "content": content })), &path)?;
                    refused(
                        &on.call("patch", json!({ "path": path, "old_string": "#", "new_string": content })),
                        &path,
                    )?;
                    let read = on.call("read_file", json!({ "path": path }));
                    refused(&read, &path)?;
                    hidden(&read, &path)?;
                }
            }
            hidden(&on.call("search_files", json!({ "pattern": CANARY, "path": "home" })), "search")?;
            let after = files.map(|name| std::fs::read_to_string(on.path("home").join(name)).unwrap());
            assert!(on.done("write_file", json!({ "path": "work/new", "content": "x" }))["created"] == true);
            if before == after { Ok(()) } else { Err(format!("{after:?}")) }
        },
    },
    Attack {
        name: "runs commands while the terminal is disabled",
        witness: "a file that the command creates; it creates one if the terminal is enabled",
        run: |on| {
            let off = Armed::working_in("work", "");
            let command = json!({ "command": "echo x > made" });
            for (tool, arguments) in [
                ("terminal", command.clone()),
                ("terminal", json!({ "command": "echo x > made", "background": true })),
                ("process", json!({ "action": "list" })),
            ] {
                refused(&off.call(tool, arguments), tool)?;
            }
            on.done("terminal", command);
            assert!(on.path("work/made").exists(), "nothing is made where it is on");
            if off.path("work/made").exists() { Err("the command ran".to_owned()) } else { Ok(()) }
        },
    },
    Attack {
        name: "uses resources that terminal commands inherit: environment variables, open files, pipes and sockets of cdpilot",
        witness: "a private variable of cdpilot, or a file, pipe or socket that this process has open; `PATH` is set",
        run: |on| {
            let response = on.done("terminal", json!({ "command": "env; ls -l /proc/$$/fd | sed 's/^/own /'" }));
            let output = response["output"].as_str().unwrap();
            assert!(output.contains("PATH=") && output.contains("own "), "{output}");
            // Descriptors inherited from the test runner are open in the parent process too.
            let parent = format!("/proc/{}/fd", std::os::unix::process::parent_id());
            let open = |folder: &str| -> Vec<String> {
                let all = std::fs::read_dir(folder).unwrap().flatten();
                all.filter_map(|entry| Some(std::fs::read_link(entry.path()).ok()?.display().to_string())).collect()
            };
            let (inherited, ours) = (open(&parent), open("/proc/self/fd"));
            assert!(
                ours.iter().any(|link| link.starts_with("pipe:") && !inherited.contains(link)),
                "there is nothing to inherit"
            );
            let leaked: Vec<_> =
                ours.iter().filter(|link| !inherited.contains(link) && !link.starts_with("/dev/")).collect();
            let more: Vec<_> = output
                .lines()
                .filter(|line| line.starts_with("own ") && leaked.iter().any(|link| line.ends_with(link.as_str())))
                .collect();
            let own: Vec<_> =
                output.lines().filter(|line| line.starts_with("CDPILOT_") || line.contains(&on.token)).collect();
            if more.is_empty() && own.is_empty() { Ok(()) } else { Err(format!("{more:?} {own:?}")) }
        },
    },
    Attack {
        name: "reads pipes, sockets and devices, which never end",
        witness: "a call that ends only by its deadline; a file in the same folder is read",
        run: |on| {
            on.done("terminal", json!({ "command": "P=..; mkfifo pipe; ln -s /dev/zero zero; ln -s /dev/tty tty; ln -s pipe pipe-link; mkfifo $P/home/uploads/pipe; ln -s /dev/zero $P/home/uploads/zero; true" }));
            for path in ["pipe", "zero", "tty", "pipe-link", "/dev/zero", "/dev/stdin", "/dev/fd/0", "/proc/kmsg"] {
                for (tool, response) in opened(on, path) {
                    let nothing = tool == "search_files" && response["count"] == 0;
                    if response["code"] == "TIMEOUT" || (response["success"] == true && !nothing) {
                        return Err(format!("{tool} {path}: {response}"));
                    }
                }
                refused(&on.call("write_file", json!({ "path": path, "content": "x" })), path)?;
            }
            for path in ["pipe", "zero"] {
                refused(&on.call("browser_upload", json!({ "paths": [path] })), path)?;
            }
            assert_eq!(on.done("read_file", json!({ "path": "inside.txt" }))["content"], "inside\n");
            Ok(())
        },
    },
];

pub(super) fn listed() -> Vec<Row> {
    rows(&ATTACKS)
}

#[test]
fn no_model_escapes_its_workspace() {
    let Some(armed) = Armed::new("tools: {terminal: {enabled: true}}") else { return };
    // Its pipes would be inherited.
    armed.show("<p>page");
    run_all(&armed, &ATTACKS);
}
