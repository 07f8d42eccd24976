package server_test

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/pdpp-go/pdpp/internal/device/wire"
	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/judge/health"
	"github.com/pdpp-go/pdpp/internal/judge/verdict"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/diskuse"
	"github.com/pdpp-go/pdpp/internal/share/readapi/grantview"
	"github.com/pdpp-go/pdpp/internal/view"
	"github.com/pdpp-go/pdpp/protocol"
)

// described are the types of answers and the names that they have in the document.
var described = map[string]reflect.Type{
	"Connection": reflect.TypeFor[view.Connection](), "RunSummary": reflect.TypeFor[view.RunSummary](),
	"ScheduleSummary": reflect.TypeFor[view.Schedule](), "Recovery": reflect.TypeFor[view.Recovery](),
	"RecoveryCommand": reflect.TypeFor[view.RecoveryCommand](), "StuckCount": reflect.TypeFor[view.StuckCount](),
	"BackgroundUpload": reflect.TypeFor[view.BackgroundUpload](), "CatchUp": reflect.TypeFor[view.CatchUp](),
	"RuntimeIndicator": reflect.TypeFor[view.RuntimeIndicator](), "Summary": reflect.TypeFor[view.Summary](),
	"Explanation": reflect.TypeFor[view.Explanation](), "ExplanationStep": reflect.TypeFor[view.Step](),
	"RuntimeFault": reflect.TypeFor[health.RuntimeFault](), "ConnectionHealth": reflect.TypeFor[health.Snapshot](),
	"HealthAxes": reflect.TypeFor[health.Axes](), "HealthBadges": reflect.TypeFor[health.Badges](),
	"Condition": reflect.TypeFor[health.Condition](), "ConditionRemedy": reflect.TypeFor[health.Remediation](),
	"Backlog": reflect.TypeFor[health.Backlog](), "NextAction": reflect.TypeFor[health.NextAction](),
	"LocalDeviceProgress": reflect.TypeFor[health.LocalProgress](), "CollectionRate": reflect.TypeFor[evidence.Pace](),
	"RateBackoff": reflect.TypeFor[protocol.RateBackoff](), "OutboxCounts": reflect.TypeFor[evidence.OutboxCounts](),
	"Verdict": reflect.TypeFor[verdict.Verdict](), "Pill": reflect.TypeFor[verdict.Pill](),
	"Outline":    reflect.TypeFor[verdict.Outline](),
	"Annotation": reflect.TypeFor[verdict.Annotation](), "RequiredAction": reflect.TypeFor[verdict.RequiredAction](),
	"Satisfaction": reflect.TypeFor[verdict.Satisfaction](), "Remediation": reflect.TypeFor[verdict.Remediation](),
	"RemediationTarget": reflect.TypeFor[verdict.Target](), "RemediationCommand": reflect.TypeFor[verdict.Command](),
	"VerdictStream": reflect.TypeFor[verdict.StreamRow](), "Progress": reflect.TypeFor[verdict.Progress](),
	"VerdictDetail": reflect.TypeFor[verdict.Detail](), "Suppressed": reflect.TypeFor[verdict.Suppressed](),
	"VerdictTrace": reflect.TypeFor[verdict.Trace](), "ToneInput": reflect.TypeFor[verdict.ToneInput](),
	"ConnectionDetail": reflect.TypeFor[api.Detail](), "Connector": reflect.TypeFor[api.Connector](),
	"StreamLabel": reflect.TypeFor[api.StreamLabel](), "CredentialForm": reflect.TypeFor[api.CredentialForm](),
	"Consent": reflect.TypeFor[api.Consent](), "ConsentScope": reflect.TypeFor[api.ConsentScope](),
	"SignInWish":  reflect.TypeFor[api.SignInWish](),
	"SignInBegun": reflect.TypeFor[api.SignInBegun](), "SignInAnswer": reflect.TypeFor[api.SignInAnswer](),
	"SignInDone":      reflect.TypeFor[api.SignInDone](),
	"ProviderApp":     reflect.TypeFor[api.ProviderApp](),
	"CredentialField": reflect.TypeFor[api.CredentialField](), "RefreshPolicy": reflect.TypeFor[api.RefreshPolicy](),
	"Credential": reflect.TypeFor[api.Credential](), "SchedulePlan": reflect.TypeFor[api.Plan](),
	"ConnectionSchedule": reflect.TypeFor[api.ConnectionSchedule](), "Bookmark": reflect.TypeFor[api.Bookmark](),
	"BookmarkCommit": reflect.TypeFor[api.BookmarkCommit](), "RewindPreview": reflect.TypeFor[api.RewindPreview](),
	"Limits": reflect.TypeFor[api.Limits](), "Gap": reflect.TypeFor[api.Gap](), "Device": reflect.TypeFor[api.Device](),
	"DeviceSource": reflect.TypeFor[api.DeviceSource](), "Run": reflect.TypeFor[api.Run](),
	"RunStream": reflect.TypeFor[api.RunStream](), "Event": reflect.TypeFor[api.Event](),
	"Question": reflect.TypeFor[api.Question](), "QuestionField": reflect.TypeFor[api.QuestionField](),
	"Pace": reflect.TypeFor[api.Pace](), "Learned": reflect.TypeFor[api.Learned](),
	"RunPace":   reflect.TypeFor[api.RunPace](),
	"PacePoint": reflect.TypeFor[api.PacePoint](), "Backoff": reflect.TypeFor[api.Backoff](),
	"OwnerStream": reflect.TypeFor[api.Stream](), "Display": reflect.TypeFor[api.Display](),
	"OwnerRecord": reflect.TypeFor[api.Record](), "OwnerCompleteness": reflect.TypeFor[api.Completeness](),
	"OwnerSpan": reflect.TypeFor[api.Span](), "OwnerFile": reflect.TypeFor[api.File](),
	"OwnerAggregation":  reflect.TypeFor[api.Aggregation](),
	"OwnerAggregations": reflect.TypeFor[api.Aggregations](), "OwnerRangeFilter": reflect.TypeFor[api.RangeFilter](),
	"Group": reflect.TypeFor[api.Group](),
	"Kept":  reflect.TypeFor[api.Kept](), "KeptSource": reflect.TypeFor[api.KeptSource](),
	"KeptStream": reflect.TypeFor[api.KeptStream](), "KeptDay": reflect.TypeFor[api.KeptDay](),
	"Storage": reflect.TypeFor[diskuse.Storage](), "StorageSource": reflect.TypeFor[diskuse.StorageSource](),
	"StorageStream": reflect.TypeFor[diskuse.StorageStream](), "Freeable": reflect.TypeFor[diskuse.Freeable](),
	"UpkeepNote": reflect.TypeFor[diskuse.UpkeepNote](),
	"Counting":   reflect.TypeFor[api.Counting](), "Covered": reflect.TypeFor[api.Covered](),
	"DayCount":    reflect.TypeFor[api.DayCount](),
	"Aggregation": reflect.TypeFor[grantview.Aggregation](), "Aggregations": reflect.TypeFor[grantview.Aggregations](),
	"RangeFilter": reflect.TypeFor[grantview.RangeFilter](),
	"Grant":       reflect.TypeFor[api.Grant](), "GrantStream": reflect.TypeFor[api.GrantStream](),
	"GrantUsage": reflect.TypeFor[api.GrantUsage](), "GrantRequest": reflect.TypeFor[api.GrantRequest](),
	"OwnerToken": reflect.TypeFor[api.Token](), "Session": reflect.TypeFor[api.Session](),
	"Passkey": reflect.TypeFor[api.Passkey](), "RecoveryCodes": reflect.TypeFor[api.RecoveryCodes](),
	"SavedSearch": reflect.TypeFor[api.SavedSearch](), "PushTarget": reflect.TypeFor[api.PushTarget](),
	"PushTest": reflect.TypeFor[api.PushTest](), "PushFailure": reflect.TypeFor[api.PushFailure](),
	"Runtime": reflect.TypeFor[api.Runtime](), "Worker": reflect.TypeFor[api.Worker](),
	"Work": reflect.TypeFor[api.Work](), "Stopped": reflect.TypeFor[api.Stopped](),
	"NotCollected": reflect.TypeFor[api.NotCollected](), "SelectedStream": reflect.TypeFor[api.SelectedStream](),
	"LeasedRun": reflect.TypeFor[api.LeasedRun](), "RunRequest": reflect.TypeFor[api.RunRequest](),
	"Attention": reflect.TypeFor[api.Attention](),
	"Import":    reflect.TypeFor[api.Import](), "ImportSkip": reflect.TypeFor[api.ImportSkip](),
	"FileImport":   reflect.TypeFor[api.FileImport](),
	"Upload":       reflect.TypeFor[api.Upload](),
	"DeviceUndone": reflect.TypeFor[api.DeviceUndone](), "DeviceDiagnosis": reflect.TypeFor[api.DeviceDiagnosis](),
	"SourceDiagnosis": reflect.TypeFor[api.SourceDiagnosis](),
	"SourceCoverage":  reflect.TypeFor[api.SourceCoverage](), "SourceGapCount": reflect.TypeFor[api.SourceGapCount](),
	"DeviceCode": reflect.TypeFor[api.DeviceCode](), "DeviceQueue": reflect.TypeFor[api.DeviceQueue](),
	"Enrolled": reflect.TypeFor[wire.Enrolled](), "NewDeviceToken": reflect.TypeFor[wire.NewToken](),
	"DeviceEnded":           reflect.TypeFor[wire.Revocation](),
	"DeviceHeartbeatAnswer": reflect.TypeFor[wire.HeartbeatAnswer](), "SourceState": reflect.TypeFor[wire.State](),
	"UploadLimits":      reflect.TypeFor[wire.Limits](),
	"DeviceBatchResult": reflect.TypeFor[wire.BatchResult](), "SourceBlob": reflect.TypeFor[wire.Blob](),
	"RejectedRecord": reflect.TypeFor[wire.Rejection](), "CollectorGapAnswer": reflect.TypeFor[wire.GapAnswer](),
	"SourceGaps": reflect.TypeFor[wire.LeasedGaps](), "SourceGap": reflect.TypeFor[wire.LeasedGap](),
	"TerminalCommitted": reflect.TypeFor[wire.TerminalCommitted](),
	"AttentionItem":     reflect.TypeFor[api.AttentionItem](), "OpenQuestion": reflect.TypeFor[api.OpenQuestion](),
}

// readable are the types of answers to clients.
var readable = map[string]reflect.Type{
	"Change": reflect.TypeFor[grantview.Change](), "ChangePage": reflect.TypeFor[grantview.ChangePage](),
	"Freshness": reflect.TypeFor[grantview.Freshness](), "ReadableConnector": reflect.TypeFor[grantview.Connector](),
	"Blob": reflect.TypeFor[grantview.Blob](), "Record": reflect.TypeFor[grantview.Record](),
	"RecordPage":   reflect.TypeFor[grantview.RecordPage](),
	"Completeness": reflect.TypeFor[grantview.Completeness](), "Span": reflect.TypeFor[grantview.Span](),
	"Expansion": reflect.TypeFor[grantview.Expansion](), "RelatedRecord": reflect.TypeFor[grantview.Related](),
	"Expandable": reflect.TypeFor[grantview.Expandable](),
	"Stream":     reflect.TypeFor[grantview.Stream](), "StreamSchema": reflect.TypeFor[grantview.StreamSchema](),
}

// asked are the types of requests; those may be sent in part.
var asked = map[string]reflect.Type{
	"Answer": reflect.TypeFor[api.Answer](), "NewConnection": reflect.TypeFor[api.Connect](),
	"NewGrant": reflect.TypeFor[api.NewGrant](), "NewPushTarget": reflect.TypeFor[api.NewPushTarget](),
	"NewSearch": reflect.TypeFor[api.NewSearch](),
	"Schedule":  reflect.TypeFor[api.Schedule](), "NewToken": reflect.TypeFor[api.NewToken](),
	"NewUpload": reflect.TypeFor[api.NewUpload](),
	"NewDevice": reflect.TypeFor[api.NewDevice](),
	"Enrol":     reflect.TypeFor[wire.Enrollment](), "CollectionScope": reflect.TypeFor[wire.CollectionScope](),
	"DeviceHeartbeat": reflect.TypeFor[wire.Heartbeat](), "DeviceHeartbeats": reflect.TypeFor[wire.Heartbeats](),
	"DeviceOutbox":      reflect.TypeFor[wire.OutboxCounts](),
	"SourceStateUpdate": reflect.TypeFor[wire.StateUpdate](), "DeviceBatch": reflect.TypeFor[wire.Batch](),
	"GapIdentity":  reflect.TypeFor[wire.GapIdentity](),
	"CollectorGap": reflect.TypeFor[wire.Gap](), "CollectorGapRecovered": reflect.TypeFor[wire.GapRecovered](),
	"TerminalCommit": reflect.TypeFor[wire.TerminalCommit](),
	"TerminalFact":   reflect.TypeFor[wire.TerminalFact](), "DeviceError": reflect.TypeFor[wire.HeartbeatError](),
	"DeviceErrorClass": reflect.TypeFor[wire.DeadLetterClass](),
	"NewPassword":      reflect.TypeFor[api.NewPassword](), "Rewind": reflect.TypeFor[api.Rewind](),
}

// The schemas have the members of the types: none is missing, invented or optional in
// one and not in the other.
func TestSchemasAreTheTypes(t *testing.T) {
	schemas := member(t, document(t), "components", "schemas")
	answers := maps.Clone(described)
	maps.Copy(answers, readable)
	for name, typ := range answers {
		always, sometimes := membersOf(typ)
		compareMembers(t, name, schemas, slices.Concat(always, sometimes), always)
	}
	for name, typ := range asked {
		always, sometimes := membersOf(typ)
		compareMembers(t, name, schemas, slices.Concat(always, sometimes), nil)
	}
}

func compareMembers(t *testing.T, name string, schemas map[string]any, want, always []string) {
	t.Helper()
	schema := member(t, schemas, name)
	var has, required []string
	for property := range member(t, schema, "properties") {
		has = append(has, property)
	}
	listed, _ := schema["required"].([]any)
	for _, r := range listed {
		required = append(required, r.(string))
	}
	slices.Sort(has)
	slices.Sort(want)
	if !slices.Equal(has, want) {
		t.Errorf("%s has the members\n%v, its type\n%v", name, has, want)
	}
	slices.Sort(required)
	slices.Sort(always)
	if always != nil && !slices.Equal(required, always) {
		t.Errorf("%s always has the members\n%v, its type\n%v", name, required, always)
	}
}

// membersOf gives the JSON names of a type: those that are always there and the others.
func membersOf(typ reflect.Type) (always, sometimes []string) {
	for i := range typ.NumField() {
		f := typ.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "":
			inner := f.Type
			if inner.Kind() == reflect.Pointer {
				inner = inner.Elem()
			}
			a, s := membersOf(inner)
			always, sometimes = append(always, a...), append(sometimes, s...)
		case strings.Contains(options, "omit"):
			sometimes = append(sometimes, name)
		default:
			always = append(always, name)
		}
	}
	return always, sometimes
}
