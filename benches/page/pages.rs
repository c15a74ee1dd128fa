//! The pages, and a server with several host names, so that frames run in separate processes.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use cdpilot::sync::{Thread, spawn};

/// A page for measurements.
pub(crate) struct Page {
    pub(crate) name: &'static str,
    pub(crate) path: &'static str,
    /// Frames below the top one.
    pub(crate) frames: usize,
}

pub(crate) const ALL: [Page; 5] = [
    Page { name: "small form", path: "/form", frames: 0 },
    Page { name: "endless animation", path: "/animated", frames: 0 },
    Page { name: "polling", path: "/polling", frames: 0 },
    Page { name: "300 rows", path: "/rows", frames: 0 },
    Page { name: "2,000 links, nested frames", path: "/links", frames: 3 },
];

/// Pages that are looked at as the visual agent does.
pub(crate) const LOOKS: [Page; 3] = [
    Page { name: "40 controls", path: "/controls/40", frames: 0 },
    Page { name: "2,000 controls", path: "/controls/2000", frames: 0 },
    Page { name: "2,000 controls in view", path: "/seats", frames: 0 },
];

const BUTTON: &str = "<button id=press onclick='this.dataset.n = 1 + (+this.dataset.n || 0)'>press me</button>";

fn html(path: &str, port: u16) -> String {
    let rows = |count: usize, cell: &dyn Fn(usize) -> String| -> String { (0..count).map(cell).collect() };
    let control = |n: usize| match n % 4 {
        0 => format!("<p><label>Field {n} <input name=f{n} placeholder='Value {n}'></label> "),
        1 => format!("<a href='/item/{n}?from=list' class='link link--strong'>Item number {n}</a> "),
        2 => format!("<label><input type=checkbox name=c value={n}> Choose {n}</label> "),
        _ => format!("<button class='btn btn-primary' data-id=b{n}>Save {n}</button>"),
    };
    match path {
        "/form" => format!(
            "<title>form</title><h1>Sign in</h1><form><label>Mail <input type=email required></label>
             <label>Word <input type=password></label><label><input type=checkbox> Remember me</label>
             <select><option>one<option>two</select></form>{BUTTON}<a href='#'>Help</a>"
        ),
        // An animation by script and style, and a text that changes in every frame.
        "/animated" => format!(
            "<title>animated</title><style>@keyframes turn {{ to {{ transform: rotate(360deg) }} }}
             #wheel {{ width: 40px; height: 40px; background: teal; animation: turn 2s linear infinite }}</style>
             <h1>Always moving</h1>{BUTTON}<div id=wheel></div><p id=count></p><div id=bar>moving</div><script>
             let frame = 0;
             (function step() {{
               frame += 1;
               document.querySelector('#count').textContent = 'frame ' + frame;
               document.querySelector('#bar').style.marginLeft = frame % 300 + 'px';
               requestAnimationFrame(step);
             }})()</script>"
        ),
        // A request every 100 ms; each one changes the page.
        "/polling" => format!(
            "<title>polling</title><h1>Always asking</h1>{BUTTON}<p id=count></p><script>
             let answers = 0;
             setInterval(async () => {{
               await (await fetch('/poll')).text();
               document.querySelector('#count').textContent = 'answer ' + ++answers;
             }}, 100)</script>"
        ),
        "/rows" => {
            let row = |n: usize| {
                format!(
                    "<tr><td><input type=checkbox aria-label='row {n}'></td><td>Person {n}</td><td>person{n}@example.test</td>
                     <td><a href='#{n}'>open {n}</a></td><td><button>delete {n}</button></td></tr>"
                )
            };
            format!(
                "<title>rows</title>{BUTTON}<table><tr><th>x<th>name<th>mail<th>open<th>delete</tr>{}</table>",
                rows(300, &row)
            )
        }
        "/links" => {
            let row = |n: usize| {
                let cells: String = (0..10).map(|m| format!("<td><a href='#{n}-{m}'>link {n} {m}</a></td>")).collect();
                format!("<tr>{cells}</tr>")
            };
            format!(
                "<title>links</title>{BUTTON}<iframe src='http://b.localhost:{port}/outer'></iframe><table>{}</table>",
                rows(200, &row)
            )
        }
        "/controls/40" => format!("<title>40 controls</title>{}", rows(40, &control)),
        "/controls/2000" => format!("<title>2,000 controls</title>{}", rows(2000, &control)),
        "/seats" => format!(
            "<title>seats</title><style>body{{margin:2px;font:8px sans-serif}}button{{width:20px;height:14px;padding:0;margin:1px;font:inherit}}</style>{}",
            rows(2000, &|n| format!("<button data-seat={n}>{n}</button>"))
        ),
        "/outer" => format!("<button>outer</button><iframe src='http://a.localhost:{port}/middle'></iframe>"),
        "/middle" => format!("<button>middle</button><iframe src='http://b.localhost:{port}/inner'></iframe>"),
        "/inner" => "<button>inner</button><p>the innermost</p>".to_owned(),
        _ => String::new(),
    }
}

static ENDED: AtomicBool = AtomicBool::new(false);

fn answer(mut stream: TcpStream, port: u16) {
    let mut request = [0; 4096];
    let _ = stream.set_read_timeout(Some(Duration::from_secs(2)));
    let Ok(read) = stream.read(&mut request) else { return };
    let text = String::from_utf8_lossy(&request[..read]);
    let body = html(text.split(' ').nth(1).unwrap_or_default(), port);
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body.as_bytes()));
}

/// The server. It ends with the process.
pub(crate) struct Site {
    port: u16,
    _thread: Thread,
}

impl Site {
    pub(crate) fn start() -> crate::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let port = listener.local_addr()?.port();
        let _thread = spawn("bench-site", move || {
            // Browsers open connections ahead and leave them idle: each has its own thread.
            let mut open: Vec<Thread> = Vec::new();
            for stream in listener.incoming().flatten() {
                match spawn("bench-visit", move || answer(stream, port)) {
                    Ok(thread) => open.push(thread),
                    Err(_) => continue,
                }
                if ENDED.load(Ordering::Relaxed) {
                    return;
                }
            }
        })?;
        Ok(Self { port, _thread })
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://a.localhost:{}{path}", self.port)
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        ENDED.store(true, Ordering::Relaxed);
        let _ = TcpStream::connect(("127.0.0.1", self.port)); // it looks when somebody comes
    }
}
