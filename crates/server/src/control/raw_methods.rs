//! The table of raw CDP commands that may be sent. Other commands are rejected.

use super::Error;
use crate::config::{RawCdp, nearest};

/// The `browser.raw_cdp_enabled` level that a command requires.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum RawLevel {
    /// Reads without side effects visible to pages or servers.
    Read,
    /// Changes pages, their data or their environment.
    Act,
    /// Debugs, measures, or controls browser internals.
    All,
    /// Runs a script of the caller: requires [`All`](Self::All) and `browser.evaluate_enabled`.
    Script,
}

/// Commands by level, each domain with the names of its commands.
const ALLOWED: [(RawLevel, &[(&str, &str)]); 4] = [
    (
        RawLevel::Read,
        &[
            (
                "Accessibility",
                "disable enable getAXNodeAndAncestors getChildAXNodes getFullAXTree getPartialAXTree getRootAXNode queryAXTree",
            ),
            ("Ads", "getAdMetrics getAdScripts"),
            ("Animation", "disable enable getCurrentTime getPlaybackRate resolveAnimation"),
            ("Audits", "checkFormsIssues disable enable getEncodedResponse"),
            ("Autofill", "disable enable"),
            ("BackgroundService", "startObserving stopObserving"),
            (
                "Browser",
                "getBrowserCommandLine getGlobalPrivacyControl getHistogram getHistograms getVersion getWindowBounds getWindowForTarget",
            ),
            (
                "CSS",
                "collectClassNames disable enable getAnimatedStylesForNode getBackgroundColors getComputedStyleForNode getEnvironmentVariables getInlineStylesForNode getLayersForNode getLocationForSelector getLonghandProperties getMatchedStylesForNode getMediaQueries getPlatformFontsForNode getStyleSheetText resolveValues startRuleUsageTracking stopRuleUsageTracking takeComputedStyleUpdates takeCoverageDelta trackComputedStyleUpdates trackComputedStyleUpdatesForNode",
            ),
            ("CacheStorage", "requestCacheNames requestCachedResponse requestEntries"),
            ("Console", "clearMessages disable enable"),
            ("CrashReportContext", "getEntries"),
            (
                "DOM",
                "clearTextMarkers collectClassNamesFromSubtree describeNode discardSearchResults enable getAnchorElement getAttributes getBoxModel getContainerForNode getContentQuads getDetachedDomNodes getDocument getElementByRelation getFileInfo getFlattenedDocument getFrameOwner getImplicitAnchorCandidates getNodeForLocation getNodeStackTraces getNodesForSubtreeByStyle getOuterHTML getQueryingDescendantsForContainer getRelayoutBoundary getSearchResults getTopLayerElements hideHighlight highlightNode highlightRect performSearch pushNodeByPathToFrontend pushNodesByBackendIdsToFrontend querySelector querySelectorAll requestChildNodes requestNode resolveNode setNodeStackTracesEnabled setTextMarker",
            ),
            ("DOMDebugger", "getEventListeners"),
            ("DOMSnapshot", "captureSnapshot disable enable getSnapshot"),
            ("DOMStorage", "disable enable getDOMStorageItems"),
            ("Emulation", "canEmulate getOverriddenSensorInformation getScreenInfos"),
            ("Extensions", "getExtensions"),
            ("FedCm", "disable enable"),
            ("FileSystem", "getDirectory"),
            ("FindInPage", "findFirst findNext findPrev stop"),
            ("IO", "close read resolveBlob"),
            ("IndexedDB", "disable enable getMetadata requestData requestDatabase requestDatabaseNames"),
            ("Inspector", "enable"),
            ("Log", "clear disable enable startViolationsReport stopViolationsReport"),
            ("Media", "disable enable"),
            ("Memory", "getDOMCounters getDOMCountersForLeakDetection"),
            (
                "Network",
                "canClearBrowserCache canClearBrowserCookies canEmulateNetworkConditions enable fetchSchemefulSite getAllCookies getCertificate getCookies getRequestPostData getResponseBody getSecurityIsolationStatus searchInResponseBody streamResourceContent",
            ),
            (
                "Page",
                "captureScreenshot captureSnapshot enable getAdScriptAncestry getAnnotatedPageContent getAppId getAppManifest getFrameTree getInstallabilityErrors getLayoutMetrics getManifestIcons getNavigationHistory getOriginTrials getPermissionsPolicyState getResourceContent getResourceTree getSiblingSubApps getSpellCheckCustomDictionary getSubApps printToPDF searchInResource",
            ),
            ("Performance", "disable enable getMetrics setTimeDomain"),
            ("PerformanceTimeline", "enable"),
            ("Preload", "disable enable"),
            (
                "Runtime",
                "discardConsoleEntries enable getExceptionDetails getHeapUsage getIsolateId getProperties globalLexicalScopeNames queryObjects releaseObject releaseObjectGroup",
            ),
            ("Schema", "getDomains"),
            ("Security", "disable enable"),
            ("ServiceWorker", "disable enable"),
            (
                "Storage",
                "getCookies getPrivateVerificationTokens getPrivateVerificationTokensIssuerConfigs getStorageKey getStorageKeyForFrame getTrustTokens getUsageAndQuota trackCacheStorageForOrigin trackCacheStorageForStorageKey trackIndexedDBForOrigin trackIndexedDBForStorageKey untrackCacheStorageForOrigin untrackCacheStorageForStorageKey untrackIndexedDBForOrigin untrackIndexedDBForStorageKey",
            ),
            ("SystemInfo", "getFeatureState getInfo getProcessInfo"),
            ("Target", "getBrowserContexts getTargetInfo getTargets"),
            ("WebAudio", "disable enable getRealtimeData"),
            ("WebMCP", "disable enable"),
        ],
    ),
    (
        RawLevel::Act,
        &[
            ("Animation", "releaseAnimations seekAnimations setPaused setPlaybackRate setTiming"),
            ("Autofill", "setAddresses trigger"),
            ("BackgroundService", "clearEvents setRecording"),
            (
                "Browser",
                "cancelDownload grantPermissions resetPermissions setContentsSize setDockTile setGlobalPrivacyControl setPermission setWindowBounds",
            ),
            (
                "CSS",
                "addRule createStyleSheet forcePositionTryOption forcePseudoState forceStartingStyle setContainerQueryConditionText setContainerQueryText setEffectivePropertyValueForNode setKeyframeKey setLocalFontsEnabled setMediaText setNavigationText setPropertyRulePropertyName setRuleSelector setScopeText setStyleSheetText setStyleTexts setSupportsText",
            ),
            ("CacheStorage", "deleteCache deleteEntry"),
            (
                "DOM",
                "focus forceShowInterest forceShowPopover markUndoableState moveTo redo removeAttribute removeNode scrollIntoViewIfNeeded setFileInputFiles undo",
            ),
            ("DOMStorage", "clear removeDOMStorageItem setDOMStorageItem"),
            ("DeviceAccess", "cancelPrompt disable enable selectPrompt"),
            ("DeviceOrientation", "clearDeviceOrientationOverride setDeviceOrientationOverride"),
            ("DigitalCredentials", "setVirtualWalletBehavior"),
            (
                "Emulation",
                "addScreen clearDeviceMetricsOverride clearDevicePostureOverride clearDisplayFeaturesOverride clearGeolocationOverride clearIdleOverride removeScreen resetPageScaleFactor setAutoDarkModeOverride setAutomationOverride setCPUPerformanceOverride setCPUThrottlingRate setDataSaverOverride setDefaultBackgroundColorOverride setDeviceMetricsOverride setDevicePostureOverride setDisabledImageTypes setDisplayFeaturesOverride setDocumentCookieDisabled setEmitTouchEventsForMouse setEmulatedMedia setEmulatedOSTextScale setEmulatedVisionDeficiency setGeolocationOverride setHardwareConcurrencyOverride setIdleOverride setLocaleOverride setNavigatorOverrides setPageScaleFactor setPressureSourceOverrideEnabled setPressureStateOverride setPrimaryScreen setSafeAreaInsetsOverride setScrollbarsHidden setSensorOverrideEnabled setSensorOverrideReadings setSmallViewportHeightDifferenceOverride setTimezoneOverride setTouchEmulationEnabled setUserAgentOverride setVirtualKeyboardGeometryOverride setVisibleSize updateScreen",
            ),
            ("FedCm", "clickDialogButton dismissDialog openUrl resetCooldown selectAccount"),
            ("IndexedDB", "clearObjectStore deleteDatabase deleteObjectStoreEntries"),
            (
                "Input",
                "cancelDragging dispatchDragEvent dispatchKeyEvent dispatchMouseEvent dispatchTouchEvent emulateTouchFromMouseEvent imeSetComposition insertText synthesizePinchGesture synthesizeScrollGesture synthesizeTapGesture",
            ),
            (
                "Memory",
                "forciblyPurgeJavaScriptMemory prepareForLeakDetection setPressureNotificationsSuppressed simulatePressureNotification",
            ),
            (
                "Network",
                "clearBrowserCache clearBrowserCookies configureDurableMessages deleteCookies deleteDeviceBoundSession enableDeviceBoundSessions enableReportingApi overrideNetworkState replayXHR setAttachDebugStack setBlockedURLs setBypassServiceWorker setCacheDisabled setCookie setCookieControls setCookies setExtraHTTPHeaders setUserAgentOverride",
            ),
            (
                "Overlay",
                "disable enable getGridHighlightObjectsForTest getHighlightObjectForTest getSourceOrderHighlightObjectForTest hideHighlight highlightFrame highlightNode highlightQuad highlightRect highlightSourceOrder setPausedInDebuggerMessage setShowAdHighlights setShowContainerQueryOverlays setShowDebugBorders setShowDisplayCutout setShowFPSCounter setShowFlexOverlays setShowGridOverlays setShowHinge setShowHitTestBorders setShowInspectedElementAnchor setShowIsolatedElements setShowLayoutShiftRegions setShowPaintRects setShowScrollBottleneckRects setShowScrollSnapOverlays setShowViewportSizeOnResize setShowWebVitals setShowWindowControlsOverlay",
            ),
            (
                "Page",
                "bringToFront clearDeviceMetricsOverride clearDeviceOrientationOverride clearGeolocationOverride close deleteCookie generateTestReport handleJavaScriptDialog navigate navigateToHistoryEntry reload resetNavigationHistory screencastFrameAck setAdBlockingEnabled setDeviceMetricsOverride setDeviceOrientationOverride setFontFamilies setFontSizes setGeolocationOverride setInputVisualization setRPHRegistrationMode setSPCTransactionMode setTouchEmulationEnabled startScreencast stopLoading stopScreencast",
            ),
            ("Runtime", "terminateExecution"),
            (
                "ServiceWorker",
                "deliverPushMessage dispatchPeriodicSyncEvent dispatchSyncEvent setForceUpdateOnPageLoad skipWaiting startWorker stopAllWorkers stopWorker unregister updateRegistration",
            ),
            (
                "Storage",
                "clearCookies clearDataForOrigin clearDataForStorageKey clearPrivateVerificationTokens clearTrustTokens deletePrivateVerificationToken deleteStorageBucket overrideQuotaForOrigin runBounceTrackingMitigations setCookies setPrivateVerificationTokensTracking setStorageBucketTracking",
            ),
            ("Target", "activateTarget closeTarget createBrowserContext createTarget disposeBrowserContext"),
            (
                "WebAuthn",
                "addCredential addVirtualAuthenticator clearCredentials disable enable getCredential getCredentials removeCredential removeVirtualAuthenticator setAutomaticPresenceSimulation setCredentialProperties setResponseOverrideBits setUserVerified",
            ),
            ("WebMCP", "cancelInvocation invokeTool"),
        ],
    ),
    (
        RawLevel::All,
        &[
            (
                "BluetoothEmulation",
                "addCharacteristic addDescriptor addService disable enable removeCharacteristic removeDescriptor removeService setSimulatedCentralState simulateAdvertisement simulateCharacteristicOperationResponse simulateDescriptorOperationResponse simulateGATTDisconnection simulateGATTOperationResponse simulatePreconnectedPeripheral",
            ),
            (
                "DOMDebugger",
                "removeDOMBreakpoint removeEventListenerBreakpoint removeInstrumentationBreakpoint removeXHRBreakpoint setBreakOnCSPViolation setDOMBreakpoint setEventListenerBreakpoint setInstrumentationBreakpoint setXHRBreakpoint",
            ),
            ("Emulation", "setScriptExecutionDisabled setVirtualTimePolicy"),
            ("EventBreakpoints", "disable removeInstrumentationBreakpoint setInstrumentationBreakpoint"),
            (
                "HeapProfiler",
                "addInspectedHeapObject collectGarbage disable enable getHeapObjectId getObjectByHeapObjectId getSamplingProfile startSampling startTrackingHeapObjects stopSampling stopTrackingHeapObjects takeHeapSnapshot",
            ),
            (
                "LayerTree",
                "compositingReasons disable enable loadSnapshot makeSnapshot profileSnapshot releaseSnapshot replaySnapshot snapshotCommandLog",
            ),
            (
                "Memory",
                "getAllTimeSamplingProfile getBrowserSamplingProfile getSamplingProfile startSampling stopSampling",
            ),
            ("Overlay", "setInspectMode"),
            (
                "Page",
                "clearCompilationCache crash produceCompilationCache setLifecycleEventsEnabled setWebLifecycleState",
            ),
            (
                "Profiler",
                "disable enable getBestEffortCoverage setSamplingInterval start startPreciseCoverage stop stopPreciseCoverage takePreciseCoverage",
            ),
            ("Runtime", "removeBinding setAsyncCallStackDepth setMaxCallStackSizeToCapture"),
            ("Security", "handleCertificateError setIgnoreCertificateErrors setOverrideCertificateErrors"),
            (
                "SmartCardEmulation",
                "disable enable reportBeginTransactionResult reportConnectResult reportDataResult reportError reportEstablishContextResult reportGetStatusChangeResult reportListReadersResult reportPlainResult reportReleaseContextResult reportStatusResult",
            ),
            ("Tracing", "end getCategories getTrackEventDescriptor recordClockSyncMarker requestMemoryDump start"),
        ],
    ),
    (
        RawLevel::Script,
        &[
            ("DOM", "copyTo setAttributeValue setAttributesAsText setNodeName setNodeValue setOuterHTML"),
            (
                "Debugger",
                "continueToLocation disable disassembleWasmModule enable evaluateOnCallFrame getPossibleBreakpoints getScriptSource getStackTrace getWasmBytecode nextWasmDisassemblyChunk pause pauseOnAsyncCall removeBreakpoint restartFrame resume searchInContent setAsyncCallStackDepth setBlackboxExecutionContexts setBlackboxPatterns setBlackboxedRanges setBreakpoint setBreakpointByUrl setBreakpointOnFunctionCall setBreakpointsActive setInstrumentationBreakpoint setPauseOnExceptions setReturnValue setScriptSource setSkipAllPauses setVariableValue stepInto stepOut stepOver",
            ),
            (
                "Page",
                "addCompilationCache addScriptToEvaluateOnLoad addScriptToEvaluateOnNewDocument createIsolatedWorld setDocumentContent",
            ),
            (
                "Runtime",
                "addBinding awaitPromise callFunctionOn compileScript evaluate runScript setCustomObjectFormatterEnabled",
            ),
        ],
    ),
];

/// Why a command is refused. Entry points name the operation to use instead in their own terms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// An operation of its own stops the browser.
    StopsBrowser,
    /// Downloads are caught already.
    CatchesDownloads,
    /// File choosers are caught already.
    CatchesFileChoosers,
    /// An action drags elements.
    Drags,
    /// The call itself names the tab or the frame.
    NamesTarget,
    /// Another reason, with what to use instead.
    Because(&'static str),
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::StopsBrowser => "use the operation that stops the browser",
            Self::CatchesDownloads => "downloads are caught already",
            Self::CatchesFileChoosers => "file choosers are caught already",
            Self::Drags => "use the action that drags elements",
            Self::NamesTarget => "name the tab or the frame in the call",
            Self::Because(reason) => reason,
        })
    }
}

use Refusal::{Because, CatchesDownloads, CatchesFileChoosers, Drags, NamesTarget, StopsBrowser};

/// Commands that are never sent, and why. `Domain.*` covers the remaining commands of a domain.
const REFUSED: [(&str, Refusal); 45] = [
    ("Browser.addMockCamera", Because("it reads a file of the machine")),
    ("Browser.close", StopsBrowser),
    ("Browser.crash", StopsBrowser),
    ("Browser.crashGpuProcess", StopsBrowser),
    ("Browser.executeBrowserCommand", Because("use the routes or tools for tabs")),
    ("Browser.setDownloadBehavior", CatchesDownloads),
    ("Browser.*", Because("it changes the browser beyond its tabs")),
    ("Cast.*", Because("it sends pages to other devices")),
    ("DOM.disable", Because("snapshots need the domain")),
    ("DOM.setInspectedNode", Because("it is for the console of developer tools; use DOM.describeNode")),
    ("Emulation.setFocusEmulationEnabled", Because("tabs are focused for input already")),
    (
        "Extensions.*",
        Because("extensions are outside of the navigation policy; start the browser with them (browser.extra_args)"),
    ),
    (
        "Fetch.*",
        Because(
            "requests are caught for the navigation policy and for dialogs; use Network.setBlockedURLs or Network.setExtraHTTPHeaders",
        ),
    ),
    ("HeadlessExperimental.*", Because("it takes control of frame rendering; use Page.captureScreenshot")),
    ("Input.setIgnoreInputEvents", Because("actions would have no effect")),
    ("Input.setInterceptDrags", Drags),
    ("Inspector.disable", Because("crashes would no longer be noticed")),
    ("Network.disable", Because("requests would no longer be followed")),
    (
        "Network.emulateNetworkConditions",
        Because(
            "it would replace rules that keep pages from protected ports; use Network.overrideNetworkState, or emulate the tab as offline",
        ),
    ),
    (
        "Network.emulateNetworkConditionsByRule",
        Because(
            "it would replace rules that keep pages from protected ports; use Network.overrideNetworkState, or emulate the tab as offline",
        ),
    ),
    (
        "Network.loadNetworkResource",
        Because("it is outside of the navigation policy; open the address in a tab, or fetch() it in a page"),
    ),
    ("PWA.*", Because("it installs and starts programs; open the address in a tab")),
    ("Page.disable", Because("dialogs would no longer be seen")),
    (
        "Page.removeScriptToEvaluateOnLoad",
        Because("it could remove the script of the dialog bridge; scripts end with their tab, so open a new tab"),
    ),
    (
        "Page.removeScriptToEvaluateOnNewDocument",
        Because("it could remove the script of the dialog bridge; scripts end with their tab, so open a new tab"),
    ),
    ("Page.setBypassCSP", Because("the dialog bridge sets it where it needs it")),
    ("Page.setDownloadBehavior", CatchesDownloads),
    ("Page.setInterceptFileChooserDialog", CatchesFileChoosers),
    ("Page.setPrerenderingAllowed", Because("a prerendered document is outside of the navigation policy")),
    ("Page.startScreenRecording", Because("use Page.startScreencast")),
    ("Page.stopScreenRecording", Because("use Page.stopScreencast")),
    ("Page.waitForDebugger", Because("the page would wait for ever")),
    ("Runtime.disable", Because("frames would no longer be followed")),
    ("Runtime.runIfWaitingForDebugger", Because("no page of cdpilot waits for a debugger")),
    ("Target.attachToBrowserTarget", Because("commands of Browser and Target go to the browser when no tab is named")),
    ("Target.attachToTarget", NamesTarget),
    ("Target.autoAttachRelated", Because("tabs are attached already")),
    ("Target.detachFromTarget", Because("the tab would no longer be followed")),
    ("Target.exposeDevToolsProtocol", Because("the page would control the browser")),
    ("Target.sendMessageToTarget", NamesTarget),
    ("Target.setAutoAttach", Because("tabs are attached already")),
    ("Target.setDiscoverTargets", Because("tabs are followed already; use Target.getTargets")),
    (
        "Target.setRemoteLocations",
        Because(
            "it opens connections outside of the navigation policy; attach to another browser as a profile of its own",
        ),
    ),
    (
        "Target.*",
        Because(
            "it is outside of the tab, for example to open developer tools; use commands of DOM, Network and Runtime on the tab",
        ),
    ),
    ("Tethering.*", Because("it opens ports of this machine")),
];

/// Every command of the table in order, `Domain.*` for the remaining ones of a domain: the level that it requires, or
/// why it is refused and what to use instead.
#[must_use]
pub fn raw_methods() -> Vec<(String, Result<RawLevel, Refusal>)> {
    let allowed = ALLOWED.iter().flat_map(|(level, domains)| {
        let of = |(domain, names): &(&str, &str)| -> Vec<String> {
            names.split(' ').map(|name| format!("{domain}.{name}")).collect()
        };
        domains.iter().flat_map(of).map(|method| (method, Ok(*level)))
    });
    let refused = REFUSED.iter().map(|(method, why)| ((*method).to_owned(), Err(*why)));
    let mut all: Vec<_> = allowed.chain(refused).collect();
    all.sort_by(|a, b| a.0.cmp(&b.0));
    all
}

fn level_of(method: &str) -> Option<RawLevel> {
    let (domain, name) = method.split_once('.')?;
    let has = |domains: &[(&str, &str)]| {
        domains.iter().any(|(of, names)| *of == domain && names.split(' ').any(|known| known == name))
    };
    ALLOWED.iter().find(|(_, domains)| has(domains)).map(|(level, _)| *level)
}

/// The allowed command that is most similar to `method`, if any is similar enough.
fn nearest_method(method: &str) -> Option<String> {
    let (domain, name) = method.split_once('.')?;
    let all = || ALLOWED.iter().flat_map(|(_, domains)| domains.iter());
    let suggestion = nearest(domain, all().map(|(domain, _)| *domain))?;
    let names = || all().filter(|(of, _)| *of == suggestion).flat_map(|(_, names)| names.split(' '));
    nearest(name, names()).map(|name| format!("{suggestion}.{name}"))
}

/// Checks whether a command may be sent, with or without a script of the caller.
pub(super) fn check(method: &str, with_script: bool, set: RawCdp, evaluate: bool) -> Result<(), Error> {
    if set == RawCdp::Off {
        return Err(Error::RawCdpDisabled);
    }
    let Some(level) = level_of(method) else {
        let all_of = method.split_once('.').map(|(domain, _)| format!("{domain}.*")).unwrap_or_default();
        let refused = |wanted: &str| REFUSED.iter().find(|(refused, _)| *refused == wanted).map(|(_, why)| *why);
        if let Some(refusal) = refused(method) {
            return Err(Error::RawRefused { method: method.to_owned(), refusal });
        }
        let near = nearest_method(method).map(|near| format!("; did you mean {near}?")).unwrap_or_default();
        return Err(match refused(&all_of) {
            Some(refusal) if near.is_empty() => Error::RawRefused { method: method.to_owned(), refusal },
            Some(refusal) => Error::BadRequest { problem: format!("{method} is not allowed: {refusal}{near}") },
            None => {
                let problem = format!("{method} is not an allowed raw CDP command{near}; docs/raw-cdp.md lists them");
                Error::BadRequest { problem }
            }
        });
    };
    if (with_script || level == RawLevel::Script) && !evaluate {
        return Err(Error::EvaluateDisabled);
    }
    let needed = match level.max(if with_script { RawLevel::Script } else { level }) {
        RawLevel::Read => RawCdp::Read,
        RawLevel::Act => RawCdp::Act,
        RawLevel::All | RawLevel::Script => RawCdp::All,
    };
    if set < needed {
        return Err(Error::RawLevel { method: method.to_owned(), needed: needed.word(), set: set.word() });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_command_stands_in_the_table_once() {
        let all = raw_methods();
        for pair in all.windows(2) {
            assert!(pair[0].0 != pair[1].0, "{} stands there twice", pair[0].0);
        }
        assert!(ALLOWED.windows(2).all(|pair| pair[0].0 < pair[1].0));
    }

    #[test]
    fn a_level_admits_what_is_below_it() {
        let code =
            |method: &str, set: RawCdp, evaluate: bool| check(method, false, set, evaluate).map_err(|e| e.code());
        for (method, set, evaluate, expected) in [
            ("DOM.getDocument", RawCdp::Read, false, Ok(())),
            ("Input.insertText", RawCdp::Read, true, Err("RAW_CDP_DISABLED")),
            ("Input.insertText", RawCdp::Act, false, Ok(())),
            ("Runtime.evaluate", RawCdp::Act, true, Err("RAW_CDP_DISABLED")),
            ("Runtime.evaluate", RawCdp::All, true, Ok(())),
            ("Runtime.evaluate", RawCdp::All, false, Err("EVALUATE_DISABLED")),
            ("DOM.setOuterHTML", RawCdp::All, false, Err("EVALUATE_DISABLED")),
            ("Debugger.setBreakpointByUrl", RawCdp::All, false, Err("EVALUATE_DISABLED")),
            ("Tracing.start", RawCdp::All, false, Ok(())),
            ("DOM.getDocument", RawCdp::Off, true, Err("RAW_CDP_DISABLED")),
            ("Fetch.enable", RawCdp::All, true, Err("BAD_REQUEST")),
            ("Target.somethingNew", RawCdp::All, true, Err("BAD_REQUEST")),
            ("Unknown.method", RawCdp::All, true, Err("BAD_REQUEST")),
        ] {
            assert_eq!(code(method, set, evaluate), expected, "{method} {set:?}");
        }
        for (method, near) in [
            ("Page.getFrameTre", "Page.getFrameTree"),
            ("runtime.evaluat", "Runtime.evaluate"),
            ("Browser.getVersio", "Browser.getVersion"),
        ] {
            let error = check(method, false, RawCdp::All, true).unwrap_err();
            assert!(
                error.code() == "BAD_REQUEST" && error.to_string().contains(&format!("did you mean {near}?")),
                "{error}"
            );
        }
        assert_eq!(check("Page.reload", true, RawCdp::All, false).unwrap_err().code(), "EVALUATE_DISABLED");
        assert_eq!(check("Page.reload", true, RawCdp::Act, true).unwrap_err().code(), "RAW_CDP_DISABLED");
    }
}
