package runner

import (
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/protocol"
)

// The vocabulary of the scripts: one function per message.

func bindings(names ...string) map[string]jsontext.Value {
	out := map[string]jsontext.Value{}
	for _, name := range names {
		out[name] = object()
	}
	return out
}

// rec returns a RECORD with the key and the members as its data.
func rec(stream, key string, members ...string) string {
	data := append([]string{fmt.Sprintf(`"id":%q`, key)}, members...)
	return fmt.Sprintf(`{"type":"RECORD","stream":%q,"key":%q,"emitted_at":"2026-01-02T03:04:05Z","data":{%s}}`,
		stream, key, strings.Join(data, ","))
}

func tombstone(stream, key string) string {
	return fmt.Sprintf(`{"type":"RECORD","stream":%q,"key":%q,"op":"delete"}`, stream, key)
}

func state(stream string, n int, more ...string) string {
	members := append([]string{fmt.Sprintf(`"type":"STATE","stream":%q,"cursor":{"n":%d}`, stream, n)}, more...)
	return "{" + strings.Join(members, ",") + "}"
}

const catchUp = `"mode":"catch_up"`

// accounted is a STATE's own account; hydrated, gap and skip keys are required too.
func accounted(hydrated, gaps, skips string) string {
	return `"accounted":{` + keySets("", hydrated, gaps, skips) + `}`
}

// coverage is a DETAIL_COVERAGE. Keys are separated by spaces; open ones are
// required and have no outcome.
func coverage(stream, parent, open, hydrated, gaps, skips string) string {
	return fmt.Sprintf(`{"type":"DETAIL_COVERAGE","reference_only":true,"stream":%q,"state_stream":%q,%s}`,
		stream, parent, keySets(open, hydrated, gaps, skips))
}

func keySets(open, hydrated, gaps, skips string) string {
	list := func(keys string) string {
		quoted := []string{}
		for _, k := range strings.Fields(keys) {
			quoted = append(quoted, fmt.Sprintf("%q", k))
		}
		return "[" + strings.Join(quoted, ",") + "]"
	}
	required := strings.Join([]string{open, hydrated, gaps, skips}, " ")
	return fmt.Sprintf(`"required_keys":%s,"hydrated_keys":%s,"gap_keys":%s,"optional_skip_keys":%s`,
		list(required), list(hydrated), list(gaps), list(skips))
}

func gapOf(stream, parent, key string, more ...string) string {
	members := []string{fmt.Sprintf(`"type":"DETAIL_GAP","stream":%q,"record_key":%q,"reason":"rate_limited",`+
		`"retryable":true`, stream, key)}
	if parent != "" {
		members = append(members, fmt.Sprintf(`"parent_stream":%q`, parent))
	}
	return "{" + strings.Join(append(members, more...), ",") + "}"
}

func lease(gapID, leaseID string) string {
	return fmt.Sprintf(`"gap_id":%q,"lease_id":%q`, gapID, leaseID)
}

func attempted(e protocol.GapEntry) string {
	return fmt.Sprintf(`{"type":"DETAIL_GAP_ATTEMPTED","stream":%q,%s}`, e.Stream, lease(e.GapID, e.LeaseID))
}

func recovered(e protocol.GapEntry) string {
	return fmt.Sprintf(`{"type":"DETAIL_GAP_RECOVERED","stream":%q,%s}`, e.Stream, lease(e.GapID, e.LeaseID))
}

func skip(stream, reason string) string {
	return fmt.Sprintf(`{"type":"SKIP_RESULT","stream":%q,"reason":%q}`, stream, reason)
}

func doneLine(status string, records int, more ...string) string {
	members := append([]string{fmt.Sprintf(`"type":"DONE","status":%q,"records_emitted":%d`, status, records)}, more...)
	return "{" + strings.Join(members, ",") + "}"
}

const certified = `"error":{"code":"stream_collection_failed","message":"one stream failed"}`

// mustSucceed fails the test unless the run succeeded.
func mustSucceed(t testing.TB, o Outcome) {
	t.Helper()
	if o.Status != Succeeded {
		t.Fatalf("run ended as %s: %v", o.Status, o.Failure)
	}
}

// mustFail fails the test unless the run ended for this reason.
func mustFail(t testing.TB, o Outcome, reason Reason) {
	t.Helper()
	if o.Failure == nil || o.Failure.Reason != reason || o.Status == Succeeded {
		t.Fatalf("run ended as %s: %v, want %s", o.Status, o.Failure, reason)
	}
}

// mustViolate fails the test unless the run broke exactly this rule.
func mustViolate(t testing.TB, o Outcome, sub protocol.Subtype) *protocol.Violation {
	t.Helper()
	mustFail(t, o, ReasonViolation)
	if o.Status != Failed || o.Failure.Violation.Subtype != sub {
		t.Fatalf("run ended as %s: %v, want %s", o.Status, o.Failure, sub)
	}
	return o.Failure.Violation
}
