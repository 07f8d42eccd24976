// Package storetest is the conformance suite of the storage contract. Both
// databases run all of it; it also holds what their benchmarks share.
package storetest

import (
	"testing"

	"pdpp/internal/keep/store"
)

// Run holds a store to the contract. Every test gets a fresh one from open,
// which closes it when the test ends.
func Run(t *testing.T, open func(t *testing.T) store.Store) {
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.test(t, open(t))
		})
	}
}

var cases = []struct {
	name string
	test func(*testing.T, store.Store)
}{
	{"Manifests", testManifests},
	{"Connections", testConnections},
	{"Check", testCheck},

	{"RunLifecycle", testRunLifecycle},
	{"RunStartRefused", testRunStartRefused},
	{"RunTakeover", testRunTakeover},
	{"RunStartRace", testRunStartRace},
	{"RunList", testRunList},
	{"RunEvents", testRunEvents},
	{"RunCancel", testRunCancel},
	{"Fencing", testFencing},
	{"Waits", testWaits},
	{"Confirmations", testConfirmations},
	{"AskAnyway", testAskAnyway},
	{"ExpiredLeaseStillWrites", testExpiredLeaseStillWrites},

	{"RecordUpsert", testRecordUpsert},
	{"RecordTombstones", testRecordTombstones},
	{"RecordDuplicateKeys", testRecordDuplicateKeys},
	{"RecordPaging", testRecordPaging},
	{"RecordBytes", testRecordBytes},
	{"RecordManyAtOnce", testRecordManyAtOnce},
	{"RecordIsolation", testRecordIsolation},
	{"RecordOrder", testRecordOrder},
	{"StreamsOfAll", testStreamsOfAll},
	{"PartKeys", testPartKeys},
	{"PartWindow", testPartWindow},
	{"PartAmong", testPartAmong},
	{"Departures", testDepartures},
	{"FieldValues", testFieldValues},
	{"FieldValuesOfTombstones", testFieldValuesOfTombstones},
	{"FieldValuesFarApart", testFieldValuesFarApart},
	{"Comparisons", testComparisons},
	{"AggregateTakesTooLong", testAggregateTakesTooLong},
	{"FieldIndexes", testFieldIndexes},
	{"PartFields", testPartFields},
	{"PageBytes", testPageBytes},
	{"Align", testAlign},
	{"AlignWaitsForTheRun", testAlignWaitsForTheRun},
	{"AlignManyRows", testAlignManyRows},
	{"ReadModel", testReadModel},
	{"SliceRedelivery", testSliceRedelivery},
	{"SliceRollback", testSliceRollback},
	{"SliceUndeclaredStream", testSliceUndeclaredStream},
	{"SliceCancelled", testSliceCancelled},
	{"SliceModel", testSliceModel},
	{"SequenceOrder", testSequenceOrder},

	{"Search", testSearch},
	{"SearchUpdates", testSearchUpdates},
	{"SearchScope", testSearchScope},
	{"SearchFieldsChange", testSearchFieldsChange},
	{"SearchOddText", testSearchOddText},
	{"SearchParts", testSearchParts},
	{"SearchPaging", testSearchPaging},

	{"Cursors", testCursors},
	{"CursorModes", testCursorModes},
	{"CursorLog", testCursorLog},
	{"PaceIsNoMove", testPaceIsNoMove},
	{"Rewind", testRewind},
	{"RewindWhileRunning", testRewindWhileRunning},

	{"GapDiscovery", testGapDiscovery},
	{"GapIdentity", testGapIdentity},
	{"GapEligibility", testGapEligibility},
	{"GapLeases", testGapLeases},
	{"GapLeaseTokens", testGapLeaseTokens},
	{"GapAttempts", testGapAttempts},
	{"GapSettle", testGapSettle},
	{"GapRecovered", testGapRecovered},
	{"GapReopen", testGapReopen},
	{"GapReleasedByFinish", testGapReleasedByFinish},
	{"GapRotation", testGapRotation},
	{"GapOldest", testGapOldest},
	{"GapPages", testGapPages},
	{"GapSparesPressure", testGapSparesPressure},
	{"GapAccounting", testGapAccounting},
	{"GapRetry", testGapRetry},
	{"GapIgnore", testGapIgnore},

	{"Interactions", testInteractions},
	{"Schedules", testSchedules},
	{"Credentials", testCredentials},
	{"BrowserProfiles", testBrowserProfiles},
	{"Devices", testDevices},
	{"DeviceCodes", testDeviceCodes},
	{"EnrolAgain", testEnrolAgain},
	{"EnrolAtOnce", testEnrolAtOnce},
	{"TakeOver", testTakeOver},
	{"JoinDevice", testJoinDevice},
	{"RotateDevice", testRotateDevice},
	{"Uploads", testUploads},
	{"UploadFence", testUploadFence},
	{"UploadLate", testUploadLate},
	{"UploadModel", testUploadModel},
	{"DeviceRuns", testDeviceRuns},
	{"DeviceGaps", testDeviceGaps},
	{"HeartbeatNews", testHeartbeatNews},
	{"Backoffs", testBackoffs},
	{"Probes", testProbes},
	{"Runtime", testRuntime},

	{"Looks", testLooks},
	{"LookStatus", testLookStatus},
	{"LookHeld", testLookHeld},
	{"LookTouched", testLookTouched},
	{"ManyLooks", testManyLooks},
	{"LookModel", testLookModel},
	{"Touches", testTouches},
	{"RunRequests", testRunRequests},
	{"RunGrants", testRunGrants},
	{"Reclaim", testReclaim},
	{"Signals", testSignals},
	{"Answers", testAnswers},
	{"Workers", testWorkers},
	{"LeasedRuns", testLeasedRuns},
	{"Attention", testAttention},
	{"AttentionLives", testAttentionLives},
	{"AttentionStale", testAttentionStale},
	{"AttentionRun", testAttentionRun},
	{"Targets", testTargets},
	{"Settings", testSettings},

	{"Sessions", testSessions},
	{"OwnerTokens", testOwnerTokens},
	{"OwnerTokenUse", testOwnerTokenUse},
	{"Browsers", testBrowsers},
	{"Passkeys", testPasskeys},
	{"RecoveryCodes", testRecoveryCodes},
	{"Grants", testGrants},
	{"GrantUses", testGrantUses},
	{"OAuthClients", testOAuthClients},
	{"GrantRequests", testGrantRequests},
	{"GrantDenied", testGrantDenied},
	{"GrantRequestsInVain", testGrantRequestsInVain},
	{"RedeemCode", testRedeemCode},
	{"RedeemTakenToken", testRedeemTakenToken},

	{"Audit", testAudit},
	{"AuditFolds", testAuditFolds},
	{"AuditStays", testAuditStays},

	{"EvidencePages", testEvidencePages},
	{"EvidenceRange", testEvidenceRange},
	{"EvidenceNew", testEvidenceNew},
	{"EvidenceManifests", testEvidenceManifests},
	{"EvidenceFacts", testEvidenceFacts},
	{"EvidenceRuns", testEvidenceRuns},
	{"EvidenceGaps", testEvidenceGaps},
	{"EvidenceOwner", testEvidenceOwner},
	{"EvidenceDevices", testEvidenceDevices},
}
