// Runs before everything else: removes the ticket from the address bar and the history.
"use strict";
globalThis.cdpilotTicket = new URLSearchParams(location.search).get("ticket");
history.replaceState(null, "", "/" + location.hash);
