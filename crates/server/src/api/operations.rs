//! All operations, by subject, in the order of `openapi.json`. See [`Operation`].

use super::operation::{Access, Operation, delete, get, patch, post};
use super::{
    AddCookies, AddRecordingEvents, AddRoute, Added, AnswerCompilation, AnswerDialog, AnswerQuestion, AnyBody,
    ArmChooser, BodyQuery, BrowserIdValid, BrowserRegistered, ChangeRoutine, ChooserArmed, CompilationShown,
    CompileRecording, Console, ConsoleQuery, ConversationCreated, ConversationEvents, ConversationList,
    ConversationMessages, ConversationShown, ConversationsQuery, Cookies, CookiesQuery, CreateConversation,
    CreateRecording, CreateRoutine, DeleteCookies, Deleted, DialogAnswered, Dialogs, Disarmed, Doctor, Downloaded,
    EditMemory, Errors, ErrorsQuery, EventsPage, EventsQuery, ExportRecording, ExportRoutine, FinalizeCompilation,
    FindQuery, FocusTab, FrameAnswer, FrameQuery, Frames, FramesQuery, GetQuery, HarAnswer, HarQuery, Health,
    Highlight, HistoryNavigation, ImportCookies, ImportRecording, IngestRecording, Items, KeyframeQuery, KnownRefs,
    LabelTab, LoadStateBody, McpQuery, MemoryChanged, MemoryShown, ModelSettings, ModelTested, NavigateTo, NewSecret,
    NewSession, NoFields, OneProfile, OneRecording, OneRequest, OneRoutine, OneSession, OneVersion, OpenTab, PdfAnswer,
    Profiles, RawCommand, RawResult, RecordConversation, RecordingCreated, RecordingDraft, RecordingEvents,
    RecordingEventsPage, RecordingExported, RecordingList, RegisterBrowser, Removed, RequestQuery, Requests,
    RequestsQuery, RescueAnswer, RootQuery, RouteAdded, Routes, RoutineCreated, RoutineExported, RoutineList,
    RunChanged, RunInfo, RunList, RunRoutine, SaveStateBody, ScreenshotAnswer, SecretList, SecretStored, SendMessage,
    Sessions, SetIntentNote, SetStorage, SettingsShown, SkillList, SnapshotAnswer, SnapshotQuery, Start, StorageQuery,
    TabAnswer, TabOpened, Tabs, TakeScreenshot, TestModel, TextQuery, Ticket, UiSecret, VersionList, VersionQuery,
    WaitDownload,
};
use crate::control::{ClosedTab, LabelledTab, Navigated, NewProfile, Status, TabInfo};
use crate::llm::Models;
use cdpilot::page::{
    Act, ElementValue, Emulation, ImportedCookies, LoadedState, Matches, Outcome, PageText, PdfOptions, ResponseBody,
    SavedState,
};

// The server itself, tools, models, secrets.

pub const HEALTH: Operation<NoFields, Health> =
    get("/health", "Check that the server responds; needs no token").quick().global().access(Access::Open);
pub const DOCTOR: Operation<NoFields, Doctor> =
    get("/doctor", "Check the machine, the home and the browser").quick().global().secs(30);
pub const OPENAPI: Operation<NoFields, AnyBody> =
    get("/openapi.json", "Return this OpenAPI description").quick().global();
pub const UI_FILE: Operation<NoFields, AnyBody> =
    get("/ui/:file", "Return a script or style sheet of the web UI; needs no token")
        .quick()
        .global()
        .access(Access::Open)
        .media("text/javascript");
pub const UI_TICKET: Operation<NoFields, Ticket> =
    post("/ui/ticket", "Issue a one-time ticket for the web UI").quick().global();
pub const UI_SECRET: Operation<NoFields, UiSecret> =
    post("/ui/secret", "Exchange a ticket (`Authorization: Ticket …`) for the secret of one web UI page")
        .quick()
        .global()
        .access(Access::Ticket);
pub const EVENTS: Operation<EventsQuery, AnyBody> =
    get("/events", "Stream events as Server-Sent Events").quick().tab().media("text/event-stream");
pub const MCP: Operation<McpQuery, AnyBody> =
    post("/mcp", "Serve tools over the Model Context Protocol; see docs/tools.md").messages();
pub const SETTINGS: Operation<NoFields, SettingsShown> =
    get("/api/config", "Show the settings that clients of conversations need").quick().global();
pub const MODELS: Operation<NoFields, ModelSettings> =
    get("/api/config/llm", "List the models in `llm.json`, with masked keys").quick().global();
pub const SET_MODELS: Operation<Models, ModelSettings> =
    post("/api/config/llm", "Replace all models in `llm.json`; a masked key keeps the stored one").quick().global();
pub const TEST_MODEL: Operation<TestModel, ModelTested> =
    post("/api/config/llm/test", "Send one short request to a model, and answer with its reply").global();
pub const SECRETS: Operation<NoFields, SecretList> =
    get("/secrets", "List the secrets that conversations may type, without their values").quick().global();
pub const SET_SECRET: Operation<NewSecret, SecretStored> =
    post("/secrets", "Store a secret for one origin; one with the same name is replaced").global();
pub const DELETE_SECRET: Operation<NoFields, Removed> = delete("/secrets/:name", "Remove a secret").global();
pub const MEMORY: Operation<NoFields, MemoryShown> =
    get("/memory", "List the notes that models have kept for later conversations").quick().global();
pub const EDIT_MEMORY: Operation<EditMemory, MemoryChanged> =
    post("/memory", "Replace the notes of one file, as a person has edited them").global();
pub const UNDO_MEMORY: Operation<NoFields, MemoryChanged> =
    post("/memory/undo", "Undo the last change of notes, whoever made it").global();
pub const SKILLS: Operation<NoFields, SkillList> =
    get("/skills", "List the skills: saved instructions for models").quick().global();
pub const END_MCP: Operation<NoFields, NoFields> =
    delete("/mcp", "End an MCP session (`Mcp-Session-Id`)").quick().global();

// Conversations and browser ids.

pub const REGISTER_BROWSER: Operation<RegisterBrowser, BrowserRegistered> =
    post("/browsers/register", "Register a browser for conversations; returns its secret id").global().secs(30);
pub const BROWSER_ID_VALID: Operation<NoFields, BrowserIdValid> =
    get("/browsers/:id/valid", "Check a browser id").quick().global();
pub const DELETE_BROWSER_ID: Operation<NoFields, Removed> =
    delete("/browsers/:id", "Remove a browser id").quick().global();
pub const CREATE_CONVERSATION: Operation<CreateConversation, ConversationCreated> =
    post("/agent/conversations", "Create a conversation").quick().global();
pub const CONVERSATIONS: Operation<ConversationsQuery, ConversationList> =
    get("/agent/conversations", "List conversations").quick().global();
pub const CONVERSATION: Operation<NoFields, ConversationShown> =
    get("/agent/conversations/:id", "Show a conversation").quick().global();
pub const DELETE_CONVERSATION: Operation<NoFields, Removed> =
    delete("/agent/conversations/:id", "Stop and delete a conversation").global().secs(20);
pub const RECORD_CONVERSATION: Operation<RecordConversation, RecordingCreated> =
    post("/agent/conversations/:id/recording", "Make a recording of what a conversation that has ended did in pages")
        .quick()
        .global();
pub const SEND_MESSAGE: Operation<SendMessage, AnyBody> =
    post("/agent/conversations/:id/messages", "Send a message; stream the events of the run as Server-Sent Events")
        .quick()
        .global()
        .media("text/event-stream");
pub const CONVERSATION_STREAM: Operation<NoFields, AnyBody> = get(
    "/agent/conversations/:id/stream",
    "Stream the events of a conversation as Server-Sent Events, after `Last-Event-ID` or from the first one",
)
.quick()
.global()
.media("text/event-stream");
pub const CONVERSATION_EVENTS: Operation<EventsPage, ConversationEvents> =
    get("/agent/conversations/:id/events", "List the stored events of a conversation").global();
pub const CONVERSATION_HISTORY: Operation<NoFields, ConversationMessages> =
    get("/agent/conversations/:id/history", "List the messages of a conversation").global();
pub const CONVERSATION_IMAGE: Operation<NoFields, AnyBody> =
    get("/agent/conversations/:id/images/:n", "Return a picture of a conversation").global().media("image/png");
pub const PAUSE: Operation<NoFields, RunChanged> =
    post("/agent/conversations/:id/pause", "Pause a run before its next step").quick().global();
pub const RESUME: Operation<NoFields, RunChanged> =
    post("/agent/conversations/:id/resume", "Continue a paused run, or the unfinished turn of an idle conversation")
        .quick()
        .global();
pub const STOP_RUN: Operation<NoFields, RunChanged> =
    post("/agent/conversations/:id/stop", "Stop a run").quick().global();
pub const ANSWER_QUESTION: Operation<AnswerQuestion, RunChanged> =
    post("/agent/conversations/:id/answer", "Answer the open question of a conversation, which continues it")
        .quick()
        .global();

// Routines and their runs.

pub const ROUTINES: Operation<NoFields, RoutineList> = get("/routines", "List routines").quick().global();
pub const CREATE_ROUTINE: Operation<CreateRoutine, RoutineCreated> =
    post("/routines", "Check a text and store it as a routine").quick().global();
pub const ROUTINE: Operation<NoFields, OneRoutine> =
    get("/routines/:id", "Show a routine, by its id or its name").quick().global();
pub const CHANGE_ROUTINE: Operation<ChangeRoutine, OneRoutine> =
    patch("/routines/:id", "Change a routine; a new text becomes a version of its own").quick().global();
pub const DELETE_ROUTINE: Operation<NoFields, Removed> =
    delete("/routines/:id", "Delete a routine with its versions and the reports of its runs").quick().global();
pub const ROUTINE_VERSIONS: Operation<NoFields, VersionList> =
    get("/routines/:id/versions", "List the versions of a routine").quick().global();
pub const ROUTINE_VERSION: Operation<VersionQuery, OneVersion> =
    get("/routines/:id/versions/:n", "Show a version of a routine, or compare it with another one").quick().global();
pub const APPROVE_VERSION: Operation<NoFields, OneRoutine> =
    post("/routines/:id/versions/:n/approve", "Make a proposed or an older version the text of the routine")
        .quick()
        .global();
pub const REJECT_VERSION: Operation<NoFields, OneRoutine> =
    post("/routines/:id/versions/:n/reject", "Reject a proposed version").quick().global();
pub const REMOVE_PERMISSION: Operation<NoFields, OneRoutine> =
    delete("/routines/:id/allowed/:index", "Take back what was allowed for later runs; the index counts from 0")
        .quick()
        .global();
pub const RUN_ROUTINE: Operation<RunRoutine, AnyBody> =
    post("/routines/:id/run", "Run a routine; stream the events of the run as Server-Sent Events")
        .quick()
        .global()
        .media("text/event-stream");
pub const EXPORT_ROUTINE: Operation<ExportRoutine, RoutineExported> = get(
    "/routines/:id/export",
    "Export a routine as its text, as a test of Playwright or as a script that uses this API",
)
.quick()
.global();
pub const ROUTINE_RUNS: Operation<NoFields, RunList> =
    get("/routines/:id/runs", "List the runs of a routine with their reports").quick().global();
pub const ROUTINE_RUN: Operation<NoFields, RunInfo> =
    get("/routines/:id/runs/:run_id", "Show the report of a run").quick().global();
pub const ROUTINE_RUN_IMAGE: Operation<NoFields, AnyBody> =
    get("/routines/:id/runs/:run_id/images/:n", "Return a picture of a report").quick().global().media("image/png");

// Recordings.

pub const RECORDINGS: Operation<NoFields, RecordingList> = get("/recordings", "List recordings").quick().global();
pub const START_RECORDING: Operation<CreateRecording, RecordingCreated> =
    post("/recordings", "Record what a person or a conversation does in a browser; start the browser if needed")
        .global()
        .secs(60);
pub const IMPORT_RECORDING: Operation<ImportRecording, RecordingCreated> =
    post("/recordings/import", "Store a recording from a file, which is not trusted; nothing in it is run")
        .global()
        .secs(60)
        .mebibytes(64);
pub const INGEST_RECORDING: Operation<IngestRecording, RecordingCreated> = post(
    "/recordings/ingest",
    "Store a recording from events, for tests; 404 unless the server has `CDPILOT_TEST_ROUTES=1`",
)
.global()
.secs(60)
.mebibytes(64)
.for_tests();
pub const RECORDING: Operation<NoFields, OneRecording> = get("/recordings/:id", "Show a recording").quick().global();
pub const DELETE_RECORDING: Operation<NoFields, Removed> =
    delete("/recordings/:id", "Stop and delete a recording with its events and screenshots; its routines stay")
        .global();
pub const RECORDING_EVENTS: Operation<RecordingEventsPage, RecordingEvents> =
    get("/recordings/:id/events", "List the events of a recording").global();
pub const ADD_RECORDING_EVENTS: Operation<AddRecordingEvents, OneRecording> =
    post("/recordings/:id/events", "Add events of another program to an active recording").global().mebibytes(16);
pub const RECORDING_STREAM: Operation<NoFields, AnyBody> = get(
    "/recordings/:id/stream",
    "Stream the events of a recording as Server-Sent Events as they are stored, after `Last-Event-ID` or from the first one",
)
.quick()
.global()
.media("text/event-stream");
pub const RECORDING_KEYFRAME: Operation<KeyframeQuery, AnyBody> =
    get("/recordings/:id/keyframes/:index", "Return a screenshot of an event").global().media("image/jpeg");
pub const PAUSE_RECORDING: Operation<NoFields, OneRecording> =
    post("/recordings/:id/pause", "Pause a recording").quick().global();
pub const RESUME_RECORDING: Operation<NoFields, OneRecording> =
    post("/recordings/:id/resume", "Continue a paused recording").quick().global();
pub const STOP_RECORDING: Operation<NoFields, OneRecording> =
    post("/recordings/:id/stop", "Stop a recording; one that has ended stays as it is").global();
pub const SET_INTENT_NOTE: Operation<SetIntentNote, OneRecording> =
    post("/recordings/:id/intent-note", "Store what the person wanted to do").quick().global();
pub const WORKFLOW_DRAFT: Operation<NoFields, RecordingDraft> =
    get("/recordings/:id/workflow-draft", "Derive the steps of a recording, without a model").global();
pub const COMPILE_RECORDING: Operation<CompileRecording, AnyBody> = post(
    "/recordings/:id/compile",
    "Compile a recording into a routine with a model, and stream its events until it asks something or submits a routine",
)
.secs(60)
.global()
.media("text/event-stream");
pub const COMPILATION: Operation<NoFields, CompilationShown> =
    get("/recordings/:id/compile", "Show the compilation of a recording").quick().global();
pub const ANSWER_COMPILATION: Operation<AnswerCompilation, AnyBody> = post(
    "/recordings/:id/compile/answer",
    "Answer the questions of a compilation, or say what to change in its routine, and stream what follows",
)
.secs(60)
.global()
.media("text/event-stream");
pub const FINALIZE_COMPILATION: Operation<FinalizeCompilation, RoutineCreated> =
    post("/recordings/:id/compile/finalize", "Save the routine of a compilation that waits to be read")
        .quick()
        .global();
pub const EXPORT_RECORDING: Operation<ExportRecording, RecordingExported> =
    get("/recordings/:id/export", "Export a recording for cdpilot or the Recorder of Chrome DevTools")
        .global()
        .secs(60);

// Browsers, profiles, sessions, tabs, navigation.

pub const STATUS: Operation<RootQuery, Status> =
    get("/", "Show browser status; with `Accept: text/html`, the web UI").quick();
pub const START: Operation<Start, Status> = post("/start", "Start the browser if it is not running").secs(30);
pub const STOP: Operation<NoFields, Status> = post("/stop", "Stop the browser").quick();
pub const PROFILES: Operation<NoFields, Profiles> = get("/profiles", "List profiles").quick().global();
pub const CREATE_PROFILE: Operation<NewProfile, OneProfile> = post("/profiles", "Create a profile").global();
pub const DELETE_PROFILE: Operation<NoFields, OneProfile> =
    delete("/profiles/:name", "Delete a profile and its data").global();
pub const RESET_PROFILE: Operation<NoFields, OneProfile> =
    post("/profiles/:name/reset", "Delete the data of a profile").global();
pub const SESSIONS: Operation<NoFields, Sessions> =
    get("/sessions", "List named sessions and their tabs").quick().global();
pub const CREATE_SESSION: Operation<NewSession, OneSession> =
    post("/sessions", "Create a named session, optionally with its own browser context").quick().global();
pub const END_SESSION: Operation<NoFields, OneSession> =
    delete("/sessions/:name", "End a session and close its tabs").global();
pub const TABS: Operation<NoFields, Tabs> = get("/tabs", "List open tabs").quick();
pub const OPEN_TAB: Operation<OpenTab, TabOpened> =
    post("/tabs/open", "Open a tab; start the browser if needed").secs(30);
pub const FOCUS_TAB: Operation<FocusTab, TabInfo> =
    post("/tabs/focus", "Bring a tab to the front and make it the current tab");
pub const LABEL_TAB: Operation<LabelTab, LabelledTab> = post("/tabs/label", "Label a tab");
pub const CLOSE_TAB: Operation<NoFields, ClosedTab> = delete("/tabs/:targetId", "Close a tab");
pub const NAVIGATE: Operation<NavigateTo, Navigated> =
    post("/navigate", "Navigate to a URL; start the browser if needed").tab().secs(30);
pub const BACK: Operation<HistoryNavigation, Navigated> = post("/back", "Go back in the history").tab().secs(30);
pub const FORWARD: Operation<HistoryNavigation, Navigated> =
    post("/forward", "Go forward in the history").tab().secs(30);
pub const RELOAD: Operation<HistoryNavigation, Navigated> = post("/reload", "Reload the page").tab().secs(30);
pub const RESCUE: Operation<NoFields, RescueAnswer> =
    post("/rescue", "End the script that keeps a page busy, at once; the document is kept").tab();

// Reading pages.

pub const SNAPSHOT: Operation<SnapshotQuery, SnapshotAnswer> =
    get("/snapshot", "Take an accessibility snapshot of a page, with refs").tab();
pub const REFS: Operation<NoFields, KnownRefs> =
    get("/refs", "List the refs of the last snapshot of a tab, without querying the page").quick().tab();
pub const SCREENSHOT: Operation<TakeScreenshot, ScreenshotAnswer> = post("/screenshot", "Take a screenshot").tab();
pub const SCREENCAST: Operation<FrameQuery, FrameAnswer> =
    get("/screencast", "Get the next frame of a tab's live picture").tab().secs(15);
pub const PDF: Operation<PdfOptions, PdfAnswer> = post("/pdf", "Print the page to PDF").tab().secs(30);
pub const FIND: Operation<FindQuery, Matches> =
    post("/find", "Find elements by role, text, label, placeholder, test id or CSS").tab();
pub const GET: Operation<GetQuery, ElementValue> =
    post("/get", "Read text, HTML, value, attribute, box, count or state of an element").tab();
pub const TEXT: Operation<TextQuery, PageText> = get("/text", "Read the visible text of a page").tab();
pub const CONSOLE: Operation<ConsoleQuery, Console> = get("/console", "List console messages").quick().tab();
pub const ERRORS: Operation<ErrorsQuery, Errors> = get("/errors", "List uncaught exceptions").quick().tab();
pub const REQUESTS: Operation<RequestsQuery, Requests> = get("/requests", "List network requests").quick().tab();
pub const HAR: Operation<HarQuery, HarAnswer> =
    get("/requests/har", "Export network requests as an HTTP Archive (HAR 1.2)").tab().secs(30);
pub const REQUEST: Operation<RequestQuery, OneRequest> =
    get("/requests/:id", "Get one network request: headers, timing, bodies").tab();
pub const RESPONSE_BODY: Operation<BodyQuery, ResponseBody> =
    get("/requests/:id/body", "Get the response body of a network request").tab();
pub const DIALOGS: Operation<NoFields, Dialogs> =
    get("/dialogs", "List pending dialogs, recently closed ones and armed answers").quick().tab();
pub const FRAMES: Operation<FramesQuery, Frames> = get("/frames", "List the frames of a page").quick().tab();
pub const HIGHLIGHT: Operation<Highlight, TabAnswer> =
    post("/highlight", "Highlight an element, or remove the highlight").tab().secs(8);

// Actions, dialogs, files.

pub const ACT: Operation<Act, Outcome> = post("/act", "Perform an action on a tab").tab().own_timeout();
pub const RAW_COMMAND: Operation<RawCommand, RawResult> = post("/cdp", "Send a raw CDP command").tab().secs(30);
pub const ANSWER_DIALOG: Operation<AnswerDialog, DialogAnswered> =
    post("/hooks/dialog", "Answer the pending dialog, or arm an answer for the next one")
        .quick()
        .tab()
        .secs(120)
        .timed();
pub const DISARM_DIALOG: Operation<NoFields, Disarmed> =
    delete("/hooks/dialog", "Disarm the answer for the next dialog").quick().tab();
pub const ARM_CHOOSER: Operation<ArmChooser, ChooserArmed> =
    post("/hooks/file-chooser", "Provide files for the next file chooser, or for a file input").tab().secs(120);
pub const WAIT_DOWNLOAD: Operation<WaitDownload, Downloaded> =
    post("/wait/download", "Wait for a download to finish").tab().secs(120);

// Cookies, storage, emulation.

pub const COOKIES: Operation<CookiesQuery, Cookies> = get("/cookies", "List cookies").tab().secs(8);
pub const ADD_COOKIES: Operation<AddCookies, Added> =
    post("/cookies", "Set cookies; start the browser if needed").tab().secs(30);
pub const IMPORT_COOKIES: Operation<ImportCookies, ImportedCookies> =
    post("/cookies/import", "Set cookies from a cookie file or JSON").tab().mebibytes(8);
pub const DELETE_COOKIES: Operation<DeleteCookies, Deleted> = delete("/cookies", "Delete cookies").tab().secs(8);
pub const LOCAL_STORAGE: Operation<StorageQuery, Items> =
    get("/storage/local", "Read localStorage items").tab().secs(8);
pub const SET_LOCAL_STORAGE: Operation<SetStorage, Items> =
    post("/storage/local", "Set localStorage items").tab().secs(8);
pub const DELETE_LOCAL_STORAGE: Operation<StorageQuery, Items> =
    delete("/storage/local", "Delete localStorage items").tab().secs(8);
pub const SESSION_STORAGE: Operation<StorageQuery, Items> =
    get("/storage/session", "Read sessionStorage items").tab().secs(8);
pub const SET_SESSION_STORAGE: Operation<SetStorage, Items> =
    post("/storage/session", "Set sessionStorage items").tab().secs(8);
pub const DELETE_SESSION_STORAGE: Operation<StorageQuery, Items> =
    delete("/storage/session", "Delete sessionStorage items").tab().secs(8);
pub const SAVE_STATE: Operation<SaveStateBody, SavedState> =
    post("/state/save", "Save cookies and storage of all origins; the answer contains secrets").tab().secs(60);
pub const LOAD_STATE: Operation<LoadStateBody, LoadedState> =
    post("/state/load", "Restore saved cookies and storage; start the browser if needed").tab().secs(60).mebibytes(48);
pub const EMULATE: Operation<Emulation, TabAnswer> =
    post("/emulate", "Override device, location, locale and network conditions of a tab").tab().secs(8);

// Network routes.

pub const ROUTES: Operation<NoFields, Routes> = get("/routes", "List the routes for network requests").secs(8);
pub const ADD_ROUTE: Operation<AddRoute, RouteAdded> =
    post("/routes", "Add a route that fails, answers, changes or delays matching requests").secs(8);
pub const DELETE_ROUTES: Operation<NoFields, Deleted> = delete("/routes", "Remove all routes").secs(8);
pub const DELETE_ROUTE: Operation<NoFields, Deleted> = delete("/routes/:id", "Remove a route").secs(8);
