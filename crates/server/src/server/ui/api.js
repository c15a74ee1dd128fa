// Requests to the control server, and the secret of this page.

// Key of the secret in sessionStorage: not shared with other tabs, never sent automatically.
const SECRET = "cdpilot-secret";

/** Called when the server no longer knows the secret of this page. */
let signedOut = () => {};
/** The profile that requests are about. */
let profile = "", standard = "";

export const onSignedOut = then => { signedOut = then; };
export const setProfile = name => { profile = name; };
export const setDefaultProfile = name => { standard = name; };

/** An error of the server, with its code. */
export class ApiError extends Error {
  constructor(answer, status) {
    super(answer.error ?? `the server answered with status ${status}`);
    [this.code, this.details, this.status] = [answer.code, answer.details ?? {}, status];
  }
}

function headers(more) {
  return { authorization: "Bearer " + sessionStorage.getItem(SECRET), ...more };
}

/** A path for a profile, whatever profile is chosen; `null`: the default profile. */
export function ofProfile(path, name) {
  const wanted = name ?? standard;
  return wanted ? `${path}${path.includes("?") ? "&" : "?"}profile=${encodeURIComponent(wanted)}` : path;
}

/** Sends a request without cookies, redirects and cache. */
function send(path, options) {
  const url = new URL(path, location.origin);
  if (profile && !url.searchParams.has("profile") && takesProfile(url.pathname)) url.searchParams.set("profile", profile);
  return fetch(url, { credentials: "omit", redirect: "error", cache: "no-store", ...options });
}

// Routes that are not about a profile refuse the parameter.
const GLOBAL = ["/agent", "/api", "/browsers", "/memory", "/profiles", "/recordings", "/routines", "/sessions", "/secrets", "/skills", "/ui", "/health", "/doctor"];
const takesProfile = path => !GLOBAL.some(start => path === start || path.startsWith(start + "/"));

/** Exchanges a ticket for a secret. Returns whether the page has a secret; throws if the ticket is not valid and there is none. */
export async function enter(ticket) {
  if (ticket) {
    const options = { method: "POST", headers: { authorization: "Ticket " + ticket, "content-type": "application/json" }, body: "{}" };
    const answer = await (await send("/ui/secret", options)).json();
    if (answer.ok) sessionStorage.setItem(SECRET, answer.secret);
    else if (!sessionStorage.getItem(SECRET)) throw new ApiError(answer, 401);
  }
  return sessionStorage.getItem(SECRET) !== null;
}

function leave() {
  sessionStorage.removeItem(SECRET);
  signedOut();
}

async function failure(response) {
  if (response.status === 401) leave();
  const answer = await response.json().catch(() => ({}));
  return new ApiError(answer, response.status);
}

/** Asks for JSON. Throws an ApiError for a failure, and a TypeError if the server does not respond. */
export async function ask(method, path, body) {
  const options = { method, headers: headers({ accept: "application/json" }) };
  if (body !== undefined) {
    options.headers["content-type"] = "application/json";
    options.body = JSON.stringify(body);
  }
  const response = await send(path, options);
  if (!response.ok) throw await failure(response);
  return response.json();
}

/** A picture that needs the secret, as a blob. */
export async function picture(path) {
  const response = await send(path, { headers: headers() });
  if (!response.ok) throw await failure(response);
  return response.blob();
}

/** Opens a stream of events: calls `take` with the name, id and data of each, until it ends. */
export async function stream(method, path, { after, body, signal, take }) {
  const more = { accept: "text/event-stream" };
  if (after !== undefined && after !== null) more["last-event-id"] = String(after);
  if (body !== undefined) more["content-type"] = "application/json";
  const options = { method, headers: headers(more), signal };
  if (body !== undefined) options.body = JSON.stringify(body);
  const response = await send(path, options);
  if (!response.ok) throw await failure(response);
  await read(response.body, take);
}

async function read(body, take) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "", id = null, name = "message", data = [];
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const lines = (rest + value).split("\n");
      rest = lines.pop();
      for (const line of lines.map(one => one.endsWith("\r") ? one.slice(0, -1) : one)) {
        if (line === "") {
          if (data.length) handed(take, name, id, data.join("\n"));
          [name, data, id] = ["message", [], null];
          continue;
        }
        const colon = line.indexOf(":");
        const field = colon < 0 ? line : line.slice(0, colon);
        const text = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
        if (field === "id") id = text;
        if (field === "event") name = text;
        if (field === "data") data.push(text);
      }
    }
  } finally {
    // Otherwise the connection stays open.
    reader.cancel().catch(() => {});
  }
}

/** An event that cannot be shown does not end the stream. */
function handed(take, name, id, data) {
  try {
    take(name, id, JSON.parse(data));
  } catch (problem) {
    console.error(problem);
  }
}
