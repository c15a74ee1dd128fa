//! Files and folders that another user could read, or created beforehand.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use cdpilot_server::config::{Claim, Config, Home, Running, Token};
use cdpilot_server::llm::Models;
use cdpilot_server::server::{Server, ServerOptions};
use rustix::fs::{CWD, FileType, Mode, mknodat};
use serde_json::json;
use tempfile::TempDir;

use super::super::Attack;
use super::super::llm_endpoint::in_time;
use crate::cli_fake_server::TOKEN;
use crate::cli_run::Program;
use crate::support::chrome::soon;

pub(super) const ATTACKS: &[Attack<()>] = &[
    Attack {
        name: "reads the token and the files of a home that was open to others",
        witness: "permission bits of the token and of every folder after the start",
        run: permissions,
    },
    Attack {
        name: "puts a token, settings, models or the address of a server into a home that others can write to",
        witness: "values of that file in effect",
        run: planted_files,
    },
    Attack {
        name: "puts a pipe in place of a file of the home",
        witness: "a read that does not return",
        run: planted_pipes,
    },
    Attack {
        name: "puts links in place of the server's lock, address, token and log",
        witness: "the targets of the links, which must not change",
        run: planted_links,
    },
];

/// A home that others can write to.
fn loose() -> (TempDir, Home) {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::at(folder.path().join("home"));
    fs::create_dir_all(home.run()).unwrap();
    for place in [home.root(), &home.run()] {
        fs::set_permissions(place, fs::Permissions::from_mode(0o777)).unwrap();
    }
    (folder, home)
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

fn permissions(_: &()) -> Result<(), String> {
    let (_folder, home) = loose();
    assert_eq!(mode(home.root()), 0o777);
    let mut options = ServerOptions::new(home.clone(), Config::default());
    options.port = Some(0);
    let server = Server::start(options).unwrap();
    let folders = [home.root().to_owned(), home.run(), home.profiles(), home.media(), home.downloads(), home.uploads()];
    let open: Vec<(PathBuf, u32)> = folders
        .into_iter()
        .map(|folder| (folder.clone(), mode(&folder)))
        .chain([(home.token(), mode(&home.token()))])
        .filter(|(_, mode)| mode & 0o077 != 0)
        .collect();
    server.stop(soon());
    if open.is_empty() { Ok(()) } else { Err(format!("{open:?}")) }
}

/// A file that controls cdpilot, its content, and whether it is trusted.
type Trusted = (fn(&Home) -> PathBuf, String, fn(&Home) -> bool);

fn trusted() -> [Trusted; 4] {
    let running = json!({ "pid": 1, "port": 1, "url": "http://127.0.0.1:1", "started_at": 1.0, "version": "1" });
    let models = json!({ "models": { "planted": { "model": "m", "base_url": "http://evil.test" } } });
    [
        (Home::token, TOKEN.to_owned(), |home| Token::read(home).is_ok_and(|token| token.is_some())),
        (Home::config, "server: {port: 1}".to_owned(), |home| Config::of(home).is_ok_and(|read| read.server.port == 1)),
        (
            |home| home.root().join("llm.json"),
            models.to_string(),
            |home| Models::of(home).is_ok_and(|read| !read.models.is_empty()),
        ),
        (
            |home| home.run().join("server.json"),
            running.to_string(),
            |home| {
                // The lock is held, as by a server.
                let lock = fs::File::create(home.run().join("server.lock")).unwrap();
                lock.lock().unwrap();
                Running::of(home).is_ok_and(|read| read.is_some())
            },
        ),
    ]
}

fn planted_files(_: &()) -> Result<(), String> {
    for (place, text, is_believed) in trusted() {
        let (_folder, home) = loose();
        let path = place(&home);
        fs::write(&path, &text).unwrap();
        assert!(is_believed(&home), "{} is ours", path.display());
        if !rustix::process::geteuid().is_root() {
            continue; // only root can make a file somebody else's
        }
        // A home of root's own, with a file of another user in it.
        let other = Some(65_534);
        std::os::unix::fs::chown(&path, other, None).unwrap();
        if is_believed(&home) {
            return Err(format!("{} of another user", path.display()));
        }
        // By way of a link that is not ours.
        let elsewhere = home.root().join("elsewhere");
        fs::rename(&path, &elsewhere).unwrap();
        symlink(&elsewhere, &path).unwrap();
        if is_believed(&home) {
            return Err(format!("{} by a link to a file of another user", path.display()));
        }
        std::os::unix::fs::chown(&elsewhere, Some(0), None).unwrap();
        std::os::unix::fs::lchown(&path, other, None).unwrap();
        if is_believed(&home) {
            return Err(format!("{} by a link of another user", path.display()));
        }
    }
    Ok(())
}

fn planted_pipes(_: &()) -> Result<(), String> {
    for (place, _, is_believed) in trusted() {
        let (folder, home) = loose();
        mknodat(CWD, place(&home), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        let shown = place(&home).display().to_string();
        if in_time(&shown, move || {
            let _folder = folder;
            is_believed(&home)
        })? {
            return Err(shown);
        }
    }
    Ok(())
}

fn planted_links(_: &()) -> Result<(), String> {
    let (folder, home) = loose();
    let (present, no_scope) = (folder.path().join("victim"), folder.path().join("nothing"));
    fs::write(&present, "as it was").unwrap();
    let is_untouched = |what: &str| match (fs::read_to_string(&present).as_deref(), no_scope.exists()) {
        (Ok("as it was"), false) => Ok(()),
        response => Err(format!("{what}: {response:?}")),
    };
    for target in [&present, &no_scope] {
        let link = |path: &Path| {
            let _ = fs::remove_file(path);
            symlink(target, path).unwrap();
        };
        link(&home.run().join("server.lock"));
        assert!(Claim::of(&home).is_err(), "the lock was taken through a link");
        is_untouched("server.lock")?;
        fs::remove_file(home.run().join("server.lock")).unwrap();
        link(&home.token());
        let _ = Token::of(&home);
        is_untouched("token")?;
        fs::remove_file(home.token()).unwrap();
        link(&home.run().join("server.json"));
        let mut options = ServerOptions::new(home.clone(), Config::default());
        options.port = Some(0);
        Server::start(options).unwrap().stop(soon());
        is_untouched("server.json")?;
        // The log of a server in the background.
        link(&home.run().join("server.log"));
        fs::write(home.config(), "server: {port: 0}").unwrap();
        let program = Program::new().env("CDPILOT_HOME", home.root().to_str().unwrap());
        let ran = program.run(&["browser", "profiles"]);
        let stopped = program.run(&["serve", "--stop"]);
        is_untouched("server.log").map_err(|response| format!("{response}: {ran:?} {stopped:?}"))?;
        assert_ne!(ran.code, Some(0), "{ran:?}");
    }
    Ok(())
}
