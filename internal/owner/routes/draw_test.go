package routes_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"time"

	"pgregory.net/rapid"

	"github.com/pdpp-go/pdpp/internal/judge/health"
	"github.com/pdpp-go/pdpp/internal/judge/verdict"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/view"
)

// wordsOf are the values of members that have few. Every other text is any text.
var wordsOf = map[reflect.Type][]string{
	reflect.TypeFor[verdict.Tone]():           {"green", "grey", "amber", "red"},
	reflect.TypeFor[verdict.Channel]():        {"calm", "advisory", "attention"},
	reflect.TypeFor[verdict.AnnotationKind](): {"activity", "attention", "coverage", "freshness", "outbox", "schedule"},
	reflect.TypeFor[verdict.ActionKind](): {
		"reauth", "refresh_now", "reattach_schedule", "add_info", "retry_gap", "backfill", "wait", "code_fix",
		"contact_support",
	},
	reflect.TypeFor[verdict.Audience](): {"owner", "maintainer", "none"},
	reflect.TypeFor[verdict.Urgency]():  {"now", "overdue", "soon", "verifying"},
	reflect.TypeFor[verdict.Contract](): {
		"credential_present_and_unrejected", "schedule_attached_and_enabled", "attention_resolved",
		"confirming_run_succeeded",
		"gap_recovered", "backfill_window_covered", "none",
	},
	reflect.TypeFor[verdict.SuppressedKind](): {"cooldown", "drain", "runtime_fault", "syncing"},
	reflect.TypeFor[health.State](): {"healthy", "idle", "unknown", "cooling_off", "degraded", "blocked",
		"needs_attention"},
	reflect.TypeFor[health.Status]():      {"true", "false", "unknown", "not_applicable"},
	reflect.TypeFor[health.Severity]():    {"info", "warning", "error", "blocked"},
	reflect.TypeFor[health.Sensitivity](): {"owner", "public", "secret_redacted"},
	reflect.TypeFor[view.Layer](): {
		"evidence", "condition", "axis", "headline", "disposition", "tone", "channel", "action",
	},
}

// wordsIn are the same for members that are plain text in Go.
var wordsIn = map[string][]string{
	"Run.Status":                 {"running", "succeeded", "failed", "cancelled", "abandoned", "skipped"},
	"Answer.Status":              {"success", "cancelled"},
	"Grant.Mode":                 {"single_use", "continuous"},
	"Grant.Status":               {"active", "expired", "revoked", "consumed"},
	"NewGrant.Mode":              {"single_use", "continuous"},
	"GrantRequest.Mode":          {"single_use", "continuous"},
	"Webhook.Status":             {"active", "failing", "paused"},
	"Webhook.PauseReason":        {"", "owner", "refused", "gone", "grant"},
	"RunTrigger.Kind":            {"generic", "github", "strava"},
	"NewTrigger.Kind":            {"", "generic", "github", "strava"},
	"SearchQuery.By":             {"words", "meaning", "both"},
	"Endpoint.Kind":              {"ollama", "openai"},
	"Search.Kind":                {"ollama", "openai"},
	"NewWebhook.Since":           {"", "now", "beginning"},
	"PushTarget.Kind":            {"web_push", "webhook", "ntfy"},
	"PeopleQuery.Kind":           {"person", "automatic", "mine"},
	"PeopleQuery.Order":          {"records", "recent", "name"},
	"ListedPerson.Kind":          {"person", "automatic", "mine"},
	"Identity.Joined":            {"only", "address", "owner"},
	"ExportQuery.Format":         {"jsonl", "csv"},
	"Comparison.Operator":        {"gt", "gte", "lt", "lte"},
	"RangeFilter.Kind":           {"text", "number", "time", "date"},
	"AggregateQuery.Metric":      {"", "count", "count_distinct", "sum", "min", "max"},
	"AggregateQuery.Granularity": {"", "day", "month", "year"},
	"CredentialField.Type":       {"text", "password", "email", "url", "number", "textarea"},
	"RunSummary.Status":          {"succeeded", "failed", "cancelled", "abandoned", "skipped"},
}

var (
	texts = rapid.OneOf(
		rapid.SampledFrom([]string{"", ".", "..", "/", "a/b", "/a/", "a b", "%2F", "ä<&>\"'", "null", "cin_garden_1", "\x00",
			"filter[x]"}),
		rapid.String())
	numbers = rapid.Int64Range(-1<<53, 1<<53)
	moments = rapid.Custom(func(t *rapid.T) time.Time {
		return time.Unix(rapid.Int64Range(-1<<33, 1<<36).Draw(t, "seconds"),
			rapid.Int64Range(0, 999_999_999).Draw(t, "nanos")).UTC()
	})
	documents = rapid.SampledFrom([]string{`{}`, `{"a":12345678901234567890}`, `{"text":"<b>&</b>","n":1e3}`,
		`{"x":[null,true]}`})
)

// draw makes a value of any parameter or result type of the owner's methods.
func draw(t *rapid.T, typ reflect.Type) reflect.Value {
	v := reflect.New(typ).Elem()
	switch {
	case typ == reflect.TypeFor[time.Time]():
		v.Set(reflect.ValueOf(moments.Draw(t, "time")))
		return v
	case typ == reflect.TypeFor[json.RawMessage]():
		v.SetBytes([]byte(documents.Draw(t, "document")))
		return v
	case wordsOf[typ] != nil:
		v.SetString(rapid.SampledFrom(wordsOf[typ]).Draw(t, "word"))
		return v
	}
	switch typ.Kind() {
	case reflect.String:
		v.SetString(texts.Draw(t, "text"))
	case reflect.Bool:
		v.SetBool(rapid.Bool().Draw(t, "bool"))
	case reflect.Int, reflect.Int64:
		v.SetInt(numbers.Draw(t, "number"))
	case reflect.Float64:
		v.SetFloat(rapid.Float64Range(0, 1e9).Draw(t, "fraction"))
	case reflect.Pointer:
		if rapid.Bool().Draw(t, "set") {
			v.Set(draw(t, typ.Elem()).Addr())
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(typ, 0, 2)) // a response contains an empty list, never null
		for range rapid.IntRange(0, 2).Draw(t, "length") {
			v = reflect.Append(v, draw(t, typ.Elem()))
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(typ))
		for range rapid.IntRange(0, 2).Draw(t, "entries") {
			v.SetMapIndex(draw(t, typ.Key()), draw(t, typ.Elem()))
		}
	case reflect.Struct:
		drawStruct(t, v)
	default:
		t.Fatalf("no way to make a %s", typ)
	}
	return v
}

func drawStruct(t *rapid.T, v reflect.Value) {
	typ := v.Type()
	for i := range typ.NumField() {
		if words := wordsIn[typ.Name()+"."+typ.Field(i).Name]; words != nil {
			v.Field(i).SetString(rapid.SampledFrom(words).Draw(t, "word"))
			continue
		}
		v.Field(i).Set(draw(t, typ.Field(i).Type))
	}
	switch typ {
	case reflect.TypeFor[api.Group]():
		v.FieldByName("Value").SetBytes([]byte(rapid.SampledFrom([]string{`3`, `1.5`, `"pear"`, `null`}).Draw(t, "value")))
	case reflect.TypeFor[health.Condition](): // every condition that is shown has a kind
		v.FieldByName("ConditionKind").Set(draw(t, reflect.TypeFor[health.ConditionKind]()).Addr())
	}
	// what is asked for counts from 0 upwards
	if strings.HasSuffix(typ.Name(), "Query") || typ == reflect.TypeFor[api.Rewind]() {
		for i := range typ.NumField() {
			if v.Field(i).CanInt() {
				v.Field(i).SetInt(rapid.Int64Range(0, 1000).Draw(t, "count"))
			}
		}
	}
}
