package health

import "github.com/pdpp-go/pdpp/internal/judge/evidence"

// conditionTable holds every possible condition in the order of definition. A reason from a run, the scheduler or a
// question replaces the row's reason. The evidence fills in NAME and CONNECTOR. All other texts are used as written.
var conditionTable []*ConditionKind

// define adds a row to conditionTable.
func define(t ConditionType, status Status, severity Severity, reason string, origin Origin, message string,
	remedy *Remediation) *ConditionKind {
	k := &ConditionKind{
		ID: string(t) + ":" + reason, Type: t, Status: status, Severity: severity, Reason: reason, Message: message,
		Origin: origin, Remediation: remedy,
	}
	if status == False {
		k.ReasonCode = Text(reason)
	}
	conditionTable = append(conditionTable, k)
	return k
}

// Remedies.
var (
	waitForRead    = &Remediation{Wait, "Wait for the evidence to become readable again", true, ""}
	resumeSchedule = &Remediation{Wait, "Resume the schedule", true, "schedule"}
	waitForRetry   = &Remediation{RetryByRuntime, "Wait for the next attempt, or run it now", true, "run"}
	leaveAlone     = &Remediation{Wait, "Wait until the source may be asked again", true, "run"}
	fixConnector   = &Remediation{UpdateConnector, "Update the connector, then run it", false, "connector"}
	answerQuestion = &Remediation{SatisfyAttention, "Answer the open question", true, "attention"}
	runAgain       = &Remediation{RetryByRuntime, "Run it again", true, "run"}
	newCredential  = &Remediation{RefreshCredentials, "Reconnect", true, "credentials"}
	signInAhead    = &Remediation{RefreshCredentials, "Sign in at the source again", true, "credentials"}
	confirmAccount = &Remediation{RetryByRuntime, "Run it once to confirm the new credential", true, "run"}
	installBrowser = &Remediation{CheckRuntime,
		"Install a browser on the machine that collects: sudo apt install chromium", true, "runtime"}
	fixRuntime = &Remediation{CheckRuntime, "Install or start what the connector needs on this machine", true,
		"runtime"}
	addInterpreter = &Remediation{CheckRuntime,
		"Install NAME, or set its path: pdpp connectors set CONNECTOR --path PATH", true, "runtime"}
	setVariable = &Remediation{CheckRuntime, "Set NAME for the program that collects", true, "runtime"}
	nameFolder  = &Remediation{CheckRuntime,
		"Set NAME to the folder that holds the files, for the program that collects", true, "runtime"}
	addModule = &Remediation{CheckRuntime,
		"Install NAME for the connector's program, or choose one that has it: pdpp connectors set CONNECTOR --path PATH",
		true, "runtime"}
	addPath = &Remediation{CheckRuntime,
		"Put NAME where the connector's program looks for it, as the connector log shows", true, "runtime"}
	putFiles     = &Remediation{CheckRuntime, "Put the files into the folder in NAME", true, "runtime"}
	confirmAgain = &Remediation{CheckRuntime,
		"Review it and confirm it on the server's machine: pdpp connectors confirm CONNECTOR", true, "runtime"}
	repairFiles = &Remediation{CheckRuntime,
		"Correct its files or install it again; pdpp connectors lists what is wrong", true, "runtime"}
	fixSurface     = &Remediation{CheckRuntime, "Check the browser that the connector uses", true, "remote_surface"}
	rerunCollector = &Remediation{ClearBacklog, "Run the collector again on the host that holds the data", true,
		"local_device"}
	retryUploads = &Remediation{ClearBacklog,
		"Retry the failed uploads on the host that holds the data, then run the collector", true, "local_device"}
	checkCollector = &Remediation{ClearBacklog, "Check the collector on the host that holds the data", true,
		"local_device"}
	connectDevice = &Remediation{CheckRuntime, "Connect a device", true, "local_device"}
	replaceDevice = &Remediation{CheckRuntime, "Revoke the device and connect it again", true, "local_device"}
	letItDrain    = &Remediation{Wait, "Let the collector finish its uploads", true, "local_device"}
	retryGaps     = &Remediation{RetryByRuntime, "A later run fills what is missing", true, "run"}
	accountStores = &Remediation{UpdateConnector, "Update the collector so that it accounts for every local store", true,
		"local_device"}
	fixManifest = &Remediation{UpdateConnector,
		"Correct the manifest: a required stream cannot be declared as not collected", false, "connector"}
	refreshByOwner = &Remediation{RetryByRuntime, "Run a refresh", true, "run"}
)

// The evidence itself, the schedule and the retry policy.
var (
	projectionCurrent = define(ProjectionReliable, True, Info, "projection_current", OriginReadModel,
		"All evidence could be read.", nil)
	projectionUnreliable = define(ProjectionReliable, False, BlockedSeverity, "projection_unreliable", OriginReadModel,
		"Part of the evidence could not be read, so no state is claimed.", waitForRead)

	scheduleEnabled = define(ScheduleEligible, True, Info, "schedule_enabled", OriginScheduler,
		"The schedule is on.", nil)
	schedulePaused = define(ScheduleEligible, False, Info, "schedule_paused", OriginOperator,
		"The owner paused collection.", resumeSchedule)
	scheduleNotConfigured = define(ScheduleEligible, NotApplicable, Info, "schedule_not_configured", OriginScheduler,
		"The connection has no schedule.", nil)
	scheduleNotFollowed = define(ScheduleEligible, NotApplicable, Info, "schedule_not_followed", OriginScheduler,
		"The connection has a schedule, and only the owner may start a run of this source.", nil)

	noActiveBackoff = define(RetryPolicyClear, True, Info, "no_active_backoff", OriginScheduler,
		"No retry is being delayed.", nil)
	backoffExpired = define(RetryPolicyClear, True, Info, "backoff_expired", OriginScheduler,
		"An earlier delay is over.", nil)
	retryNotApplicable = define(RetryPolicyClear, NotApplicable, Info, "retry_not_applicable", OriginScheduler,
		"Only the owner starts runs here.", nil)
	backoffActive = define(RetryPolicyClear, False, Warning, "scheduler_backoff_active", OriginScheduler,
		"The next attempt is delayed after earlier failures.", waitForRetry)
	sourcePressed = define(RetryPolicyClear, False, Warning, ReasonPressure, OriginScheduler,
		"The source is left alone until a time that it named, or that its refusals have shown.", leaveAlone)
	backoffGivenUp = define(RetryPolicyClear, False, BlockedSeverity, "scheduler_gave_up", OriginScheduler,
		"The same failure has repeated until the scheduler stopped trying.", fixConnector)
)

// The owner, the newest run and what a run needs.
var (
	noOpenAttention = define(AttentionClear, True, Info, "no_open_attention", OriginRuntime,
		"No question waits for the owner.", nil)
	attentionExpired = define(AttentionClear, True, Info, "attention_expired", OriginRuntime,
		"An earlier question is no longer open.", nil)
	attentionRequired = define(AttentionClear, False, BlockedSeverity, "attention_required", OriginConnector,
		"A run waits for an answer from the owner.", answerQuestion)

	collectionNotObserved = define(CollectionSucceeded, StatusUnknown, Info, "collection_not_observed", OriginRuntime,
		"No run has ended yet.", nil)
	collectionSucceeded = define(CollectionSucceeded, True, Info, "collection_succeeded", OriginRuntime,
		"The newest run succeeded.", nil)
	collectionByDevice = define(CollectionSucceeded, True, Info, "collection_succeeded_local_device", OriginLocalDevice,
		"The collectors have delivered all that they account for.", nil)
	collectionFailed = define(CollectionSucceeded, False, Warning, "collection_failed", OriginRuntime,
		"The newest run did not succeed.", runAgain)

	credentialsNotProbed = define(CredentialsValid, StatusUnknown, Info, "credentials_not_probed", OriginReadiness,
		"Nothing has shown yet whether the credential is accepted.", nil)
	credentialsAccepted = define(CredentialsValid, True, Info, "credentials_accepted", OriginConnector,
		"The source accepted the credential.", nil)
	credentialRejected = define(CredentialsValid, False, BlockedSeverity, "credential_rejected", OriginConnector,
		"The source rejected the credential.", newCredential)
	credentialRequired = define(CredentialsValid, False, BlockedSeverity, "credential_required", OriginConnector,
		"The connector has no credential to use.", newCredential)

	credentialTooNarrow = define(CredentialsValid, False, Warning, "credential_insufficient", OriginConnector,
		"The source refuses part of the data with this credential.", newCredential)

	continuityNotApplicable = define(CredentialContinuity, NotApplicable, Info, "credential_not_stored", OriginReadiness,
		"No credential is stored here.", nil)
	continuityProven = define(CredentialContinuity, True, Info, "credential_continuity_proven", OriginReadiness,
		"A run has succeeded with the stored credential.", nil)
	continuityEnding = define(CredentialContinuity, False, Info, ReasonCredentialEnding, OriginReadiness,
		"The sign-in ends soon, and the source does not let it be extended.", signInAhead)
	continuityEndsNow = define(CredentialContinuity, False, Info, ReasonCredentialLastDays, OriginReadiness,
		"The sign-in ends within days, and the source does not let it be extended.", signInAhead)
	continuityUnproven = define(CredentialContinuity, False, Info, "credential_continuity_unproven", OriginReadiness,
		"The credential was replaced and no run has used it yet.", confirmAccount)

	runtimeNotManaged = define(RuntimeAvailable, NotApplicable, Info, "runtime_not_managed", OriginRuntime,
		"Collectors on the owner's machines do the work.", nil)
	runtimeStateUnknown = define(RuntimeAvailable, StatusUnknown, Info, "runtime_state_unknown", OriginRuntime,
		"Nothing has shown yet whether the runtime has what the connector needs.", nil)
	runtimeAvailable = define(RuntimeAvailable, True, Info, "runtime_available", OriginRuntime,
		"The runtime has what the connector needs.", nil)
	bindingMissing = define(RuntimeAvailable, False, BlockedSeverity, "runtime_binding_missing", OriginRuntime,
		"The runtime lacks something that the connector requires.", fixRuntime)
	browserMissing = define(RuntimeAvailable, False, BlockedSeverity, "missing_browser_surface", OriginRuntime,
		"The connector requires a browser and none is usable.", installBrowser)
	toolUnavailable = define(RuntimeAvailable, False, BlockedSeverity, "external_tool_unavailable", OriginRuntime,
		"A program that the connector requires is not installed.", fixRuntime)
	interpreterMissing = define(RuntimeAvailable, False, BlockedSeverity, evidence.ReasonInterpreterMissing,
		OriginReadiness, "The connector is started by NAME, which is not on this machine.", addInterpreter)
	variableUnset = define(RuntimeAvailable, False, BlockedSeverity, evidence.ReasonVariableUnset, OriginReadiness,
		"The connector needs the variable NAME, which is not set.", setVariable)
	filesUnnamed = define(RuntimeAvailable, False, BlockedSeverity, evidence.ReasonFilesUnnamed, OriginReadiness,
		"The connector reads files from the folder in NAME, which is not set.", nameFolder)
	filesMissing = define(RuntimeAvailable, False, BlockedSeverity, evidence.ReasonFilesMissing, OriginReadiness,
		"The connector reads files from the folder in NAME, and they are not there.", putFiles)
	moduleMissing = define(RuntimeAvailable, False, BlockedSeverity, evidence.ReasonModuleMissing, OriginReadiness,
		"The connector's program needs NAME, which it cannot load here.", addModule)
	pathMissing = define(RuntimeAvailable, False, BlockedSeverity, evidence.ReasonPathMissing, OriginReadiness,
		"The connector's program opens NAME, which is not there.", addPath)
	connectorUnconfirmed = define(RuntimeAvailable, False, BlockedSeverity, evidence.ReasonUnconfirmed, OriginReadiness,
		"The connector CONNECTOR changed since you confirmed it; confirm it again.", confirmAgain)
	connectorUnusable = define(RuntimeAvailable, False, BlockedSeverity, evidence.ReasonUnusable, OriginReadiness,
		"The connector CONNECTOR is installed and its files cannot be used.", repairFiles)
	deviceMissing = define(RuntimeAvailable, False, BlockedSeverity, ReasonNoDevice, OriginLocalDevice,
		"No device collects this.", connectDevice)
	deviceDoubled = define(RuntimeAvailable, False, BlockedSeverity, ReasonDeviceDoubled, OriginLocalDevice,
		"Two computers use the access of one device.", replaceDevice)
	runtimeUnavailable = define(RuntimeAvailable, False, Error, "runtime_unavailable", OriginRuntime,
		"The connector could not be started.", fixRuntime)

	surfaceNotRequired = define(RemoteSurfaceAvailable, NotApplicable, Info, "remote_surface_not_required",
		OriginRemoteSurface, "No remote browser is in use.", nil)
	surfaceAvailable = define(RemoteSurfaceAvailable, True, Info, "remote_surface_available", OriginRemoteSurface,
		"The remote browser is usable.", nil)
	surfaceUnknown = define(RemoteSurfaceAvailable, StatusUnknown, Warning, "remote_surface_unknown",
		OriginRemoteSurface, "Whether the remote browser is usable is not known.", fixSurface)
	surfaceFailed = define(RemoteSurfaceAvailable, False, Error, "remote_surface_failed", OriginRemoteSurface,
		"The remote browser failed.", fixSurface)
)

// The owner's devices.
var (
	exporterNotApplicable = define(LocalExporterAvailable, NotApplicable, Info, "local_exporter_not_applicable",
		OriginLocalDevice, "No device feeds the connection.", nil)
	exporterUnknown = define(LocalExporterAvailable, StatusUnknown, Info, "local_exporter_unknown",
		OriginLocalDevice, "No device has reported in a way that can be relied on.", nil)
	exporterIdle = define(LocalExporterAvailable, True, Info, "local_exporter_idle", OriginLocalDevice,
		"The collector has nothing left to upload.", nil)
	exporterActive = define(LocalExporterAvailable, True, Info, "local_exporter_active", OriginLocalDevice,
		"The collector is at work; what is queued is draining normally.", nil)
	exporterStateRead = define(LocalExporterAvailable, False, Error, "local_exporter_state_read_failed",
		OriginLocalDevice, "The collector is blocked: it could not read its earlier state. There is nothing to requeue; "+
			"running it again on the host clears this.", rerunCollector)
	exporterDeadLetters = define(LocalExporterAvailable, False, Error, "local_exporter_dead_letter_backlog",
		OriginLocalDevice, "Records saved on the host failed to upload. They have to be retried, and then drain by running "+
			"the collector again on the host.", retryUploads)
	exporterStalePending = define(LocalExporterAvailable, False, Error, "local_exporter_stale_pending", OriginLocalDevice,
		"Work that was queued on the host stopped draining. Running the collector again on the host resumes it.",
		rerunCollector)
	exporterStalled = define(LocalExporterAvailable, False, Error, "local_exporter_stalled", OriginLocalDevice,
		"The collector has stopped uploading.", checkCollector)

	outboxNotApplicable = define(BacklogClear, NotApplicable, Info, "outbox_not_applicable", OriginLocalDevice,
		"No device feeds the connection.", nil)
	outboxUnknown = define(BacklogClear, StatusUnknown, Info, "outbox_unknown", OriginLocalDevice,
		"How much work waits on the host is not known.", nil)
	outboxIdle = define(BacklogClear, True, Info, "outbox_idle", OriginLocalDevice, "No work waits on the host.",
		nil)
	outboxActive = define(BacklogClear, False, Info, "outbox_active", OriginLocalDevice,
		"Saved work is uploading from the host.", letItDrain)
	outboxStateRead = define(BacklogClear, False, Error, "outbox_state_read_failed", OriginLocalDevice,
		"Uploads wait because the collector could not read its earlier state. Nothing has to be requeued.", rerunCollector)
	outboxDeadLetters = define(BacklogClear, False, Error, "outbox_dead_letter_backlog", OriginLocalDevice,
		"Records saved on the host failed to upload and wait to be retried.", retryUploads)
	outboxStalePending = define(BacklogClear, False, Error, "outbox_stale_pending", OriginLocalDevice,
		"Queued work waits on the host and is not draining.", rerunCollector)
	outboxStalled = define(BacklogClear, False, Error, "outbox_stalled", OriginLocalDevice,
		"Work waits on the host and is not draining.", checkCollector)
)

// Coverage and freshness.
var (
	coverageUnknown = define(SourceCoverageComplete, StatusUnknown, Warning, "coverage_unknown", OriginConnector,
		"How much of the source has been collected is not known.", nil)
	coverageComplete = define(SourceCoverageComplete, True, Info, string(Complete), OriginConnector,
		"Everything that the newest measurement considered has been collected.", nil)
	coverageDiagnosed = define(SourceCoverageComplete, True, Info, string(Complete), OriginLocalDevice,
		"The collector accounts for every store that it knows.", nil)
	coverageReported = define(SourceCoverageComplete, True, Info, string(Complete), OriginConnector,
		"Everything has been collected, "+evidence.ReportedByConnector+".", nil)
	coverageDeferred = define(SourceCoverageComplete, True, Info, string(Deferred), OriginConnector,
		"Part of the source is left for later on purpose.", nil)
	coverageInventory = define(SourceCoverageComplete, True, Info, string(InventoryOnly), OriginConnector,
		"Part of the source is listed and not collected, on purpose.", nil)
	coveragePartial = define(SourceCoverageComplete, False, Warning, string(Partial), OriginConnector,
		"The newest run collected only part of the source.", retryGaps)
	coverageGaps = define(SourceCoverageComplete, False, Warning, string(Gapped), OriginLocalDevice,
		"At least one local store is not accounted for.", accountStores)
	coverageRetryable = define(SourceCoverageComplete, False, Warning, string(RetryableGap), OriginConnector,
		"Some items are missing that a later run can fetch.", retryGaps)
	coverageTerminal = define(SourceCoverageComplete, False, BlockedSeverity, string(TerminalGap), OriginConnector,
		"Part of the source cannot be collected with this version of the connector.", fixConnector)
	coverageAbsent = define(SourceCoverageComplete, False, BlockedSeverity, string(Unavailable), OriginConnector,
		"The source does not provide a required part.", fixConnector)
	coverageUnsupport = define(SourceCoverageComplete, False, BlockedSeverity, string(Unsupported), OriginConnector,
		"The connector does not support a required part.", fixConnector)
	coverageContradict = define(SourceCoverageComplete, False, Warning, "required_but_accepted", OriginConnector,
		"A required stream is declared as one that is not collected.", fixManifest)

	freshnessUnknown = define(FreshCondition, StatusUnknown, Warning, "freshness_unknown", OriginConnector,
		"How old the data may be is not declared, or nothing was collected yet.", nil)
	freshNow = define(FreshCondition, True, Info, string(Fresh), OriginConnector,
		"The data is as new as the source's policy asks for.", nil)
	staleData = define(FreshCondition, False, Warning, string(Stale), OriginConnector,
		"The data has aged past its window.", runAgain)
	staleManual = define(FreshCondition, False, Info, ReasonStaleManual, OriginConnector,
		"The data has aged past its window, and only the owner refreshes it.", refreshByOwner)
)
