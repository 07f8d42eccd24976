package server_test

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pdpp/internal/evidence"
	"pdpp/internal/grantview"
	"pdpp/internal/health"
	"pdpp/internal/ownerapi"
	"pdpp/internal/ownerview"
	"pdpp/internal/verdict"
	"pdpp/protocol"
)

// described are the types of answers and the names that they have in the document.
var described = map[string]reflect.Type{
	"Connection": reflect.TypeFor[ownerview.Connection](), "RunSummary": reflect.TypeFor[ownerview.RunSummary](),
	"ScheduleSummary": reflect.TypeFor[ownerview.Schedule](), "Recovery": reflect.TypeFor[ownerview.Recovery](),
	"RecoveryCommand": reflect.TypeFor[ownerview.RecoveryCommand](), "StuckCount": reflect.TypeFor[ownerview.StuckCount](),
	"BackgroundUpload": reflect.TypeFor[ownerview.BackgroundUpload](), "CatchUp": reflect.TypeFor[ownerview.CatchUp](),
	"RuntimeIndicator": reflect.TypeFor[ownerview.RuntimeIndicator](), "Summary": reflect.TypeFor[ownerview.Summary](),
	"Explanation": reflect.TypeFor[ownerview.Explanation](), "ExplanationStep": reflect.TypeFor[ownerview.Step](),
	"RuntimeFault": reflect.TypeFor[health.RuntimeFault](), "ConnectionHealth": reflect.TypeFor[health.Snapshot](),
	"HealthAxes": reflect.TypeFor[health.Axes](), "HealthBadges": reflect.TypeFor[health.Badges](),
	"Condition": reflect.TypeFor[health.Condition](), "ConditionRemedy": reflect.TypeFor[health.Remediation](),
	"Backlog": reflect.TypeFor[health.Backlog](), "NextAction": reflect.TypeFor[health.NextAction](),
	"LocalDeviceProgress": reflect.TypeFor[health.LocalProgress](), "CollectionRate": reflect.TypeFor[evidence.Pace](),
	"RateBackoff": reflect.TypeFor[protocol.RateBackoff](), "OutboxCounts": reflect.TypeFor[evidence.OutboxCounts](),
	"Verdict": reflect.TypeFor[verdict.Verdict](), "Pill": reflect.TypeFor[verdict.Pill](), "Outline": reflect.TypeFor[verdict.Outline](),
	"Annotation": reflect.TypeFor[verdict.Annotation](), "RequiredAction": reflect.TypeFor[verdict.RequiredAction](),
	"Satisfaction": reflect.TypeFor[verdict.Satisfaction](), "Remediation": reflect.TypeFor[verdict.Remediation](),
	"RemediationTarget": reflect.TypeFor[verdict.Target](), "RemediationCommand": reflect.TypeFor[verdict.Command](),
	"VerdictStream": reflect.TypeFor[verdict.StreamRow](), "Progress": reflect.TypeFor[verdict.Progress](),
	"VerdictDetail": reflect.TypeFor[verdict.Detail](), "Suppressed": reflect.TypeFor[verdict.Suppressed](),
	"VerdictTrace": reflect.TypeFor[verdict.Trace](), "ToneInput": reflect.TypeFor[verdict.ToneInput](),
	"ConnectionDetail": reflect.TypeFor[ownerapi.Detail](), "Connector": reflect.TypeFor[ownerapi.Connector](),
	"StreamLabel": reflect.TypeFor[ownerapi.StreamLabel](), "CredentialForm": reflect.TypeFor[ownerapi.CredentialForm](),
	"CredentialField": reflect.TypeFor[ownerapi.CredentialField](), "RefreshPolicy": reflect.TypeFor[ownerapi.RefreshPolicy](),
	"Credential": reflect.TypeFor[ownerapi.Credential](), "SchedulePlan": reflect.TypeFor[ownerapi.Plan](),
	"Limits": reflect.TypeFor[ownerapi.Limits](), "Gap": reflect.TypeFor[ownerapi.Gap](), "Device": reflect.TypeFor[ownerapi.Device](),
	"DeviceSource": reflect.TypeFor[ownerapi.DeviceSource](), "Run": reflect.TypeFor[ownerapi.Run](),
	"RunStream": reflect.TypeFor[ownerapi.RunStream](), "Event": reflect.TypeFor[ownerapi.Event](),
	"Question": reflect.TypeFor[ownerapi.Question](), "QuestionField": reflect.TypeFor[ownerapi.QuestionField](),
	"Pace": reflect.TypeFor[ownerapi.Pace](), "RunPace": reflect.TypeFor[ownerapi.RunPace](),
	"PacePoint": reflect.TypeFor[ownerapi.PacePoint](), "Backoff": reflect.TypeFor[ownerapi.Backoff](),
	"OwnerStream": reflect.TypeFor[ownerapi.Stream](), "OwnerRecord": reflect.TypeFor[ownerapi.Record](),
	"Grant": reflect.TypeFor[ownerapi.Grant](), "GrantStream": reflect.TypeFor[ownerapi.GrantStream](),
	"GrantUsage": reflect.TypeFor[ownerapi.GrantUsage](), "GrantRequest": reflect.TypeFor[ownerapi.GrantRequest](),
	"OwnerToken": reflect.TypeFor[ownerapi.Token](), "Session": reflect.TypeFor[ownerapi.Session](),
	"Passkey": reflect.TypeFor[ownerapi.Passkey](), "RecoveryCodes": reflect.TypeFor[ownerapi.RecoveryCodes](),
	"PushTarget": reflect.TypeFor[ownerapi.PushTarget](),
	"Runtime":    reflect.TypeFor[ownerapi.Runtime](), "Worker": reflect.TypeFor[ownerapi.Worker](),
}

// readable are the types of answers to clients.
var readable = map[string]reflect.Type{
	"Change": reflect.TypeFor[grantview.Change](), "ChangePage": reflect.TypeFor[grantview.ChangePage](),
	"Freshness": reflect.TypeFor[grantview.Freshness](), "ReadableConnector": reflect.TypeFor[grantview.Connector](),
	"Record": reflect.TypeFor[grantview.Record](), "RecordPage": reflect.TypeFor[grantview.RecordPage](),
	"Stream": reflect.TypeFor[grantview.Stream](), "StreamSchema": reflect.TypeFor[grantview.StreamSchema](),
}

// asked are the types of requests; those may be sent in part.
var asked = map[string]reflect.Type{
	"Answer": reflect.TypeFor[ownerapi.Answer](), "NewConnection": reflect.TypeFor[ownerapi.Connect](),
	"NewGrant": reflect.TypeFor[ownerapi.NewGrant](), "NewPushTarget": reflect.TypeFor[ownerapi.NewPushTarget](),
	"Schedule": reflect.TypeFor[ownerapi.Schedule](), "NewToken": reflect.TypeFor[ownerapi.NewToken](),
	"NewPassword": reflect.TypeFor[ownerapi.NewPassword](),
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
	for _, r := range schema["required"].([]any) {
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
		case strings.Contains(options, "omitempty"):
			sometimes = append(sometimes, name)
		default:
			always = append(always, name)
		}
	}
	return always, sometimes
}
