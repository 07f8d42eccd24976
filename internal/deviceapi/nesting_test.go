package deviceapi_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"testing"
)

// nested returns a JSON value of so many levels around a text of so many bytes, with a member of which the
// place differs between the two orders that are hashed.
func nested(levels, size int) string {
	return strings.Repeat(`{"0":[`, levels/2) + `{"10":1,"9":"` + strings.Repeat("x", size) + `"}` +
		strings.Repeat("]}", levels/2)
}

// A body is refused for its nesting before anything is computed from it, whatever a device sends: the
// memory that is allocated for an answer is a small multiple of the body.
func TestNestingIsBoundedBeforeHashing(t *testing.T) {
	l := newLaptop(t)
	batch := func(records string) string {
		return fmt.Sprintf(`{"batch_id":"b","batch_seq":1,"device_id":%q,"source_instance_id":%q,"connector_id":"notes",`+
			`"body_hash":%q,"records":%s}`,
			l.DeviceID, l.SourceInstanceID, strings.Repeat("0", 64), records)
	}
	record := func(data string) string {
		return `[{"stream":"notes","record_key":"a","emitted_at":"2026-03-01T11:00:00Z","data":` + data + `}]`
	}
	terminal := func(state string) string {
		return fmt.Sprintf(`{"version":1,"commit_id":"c","run_id":"r","device_id":%q,"source_instance_id":%q,`+
			`"connector_id":"notes","connector_instance_id":%q,"state_delta":{"notes":%s}}`,
			l.DeviceID, l.SourceInstanceID, l.ConnectorInstanceID, state)
	}
	batches := "/" + l.DeviceID + "/ingest-batches"
	for _, c := range []struct {
		name, path, body string
		status           int
		most             uint64 // bytes allocated, as a multiple of the body's
	}{
		{"list of lists", batches, batch(strings.Repeat("[", 300) + nested(2, 4<<20) + strings.Repeat("]", 300)), 400, 30},
		{"record of 300 levels", batches, batch(record(nested(300, 4<<20))), 400, 30},
		{"record of 2,000 levels", batches, batch(record(nested(2000, 10<<20))), 400, 30},
		{"record of 20,000 levels", batches, batch(record(nested(20_000, 1<<20))), 400, 30},
		{"commit of 100 levels", l.own("/terminal-run-commits"), terminal(nested(100, 900<<10)), 400, 30},
		{"commit of 1,000 levels", l.own("/terminal-run-commits"), terminal(nested(1000, 900<<10)), 400, 30},
		{"state of 1,000 levels", l.own("/state"), `{"state":{"notes":` + nested(1000, 900<<10) + `}}`, 400, 30},
		// hashed, and the hash is wrong
		{"largest nesting that is allowed", batches, batch(record(nested(60, 4<<20))), 400, 60},
	} {
		t.Run(c.name, func(t *testing.T) {
			l.t = t
			body, headers := []byte(c.body), []string(nil)
			if c.path == batches {
				var packed bytes.Buffer
				w := gzip.NewWriter(&packed)
				_, _ = w.Write(body)
				_ = w.Close()
				body, headers = packed.Bytes(), []string{"Content-Encoding", "gzip"}
			}
			method := http.MethodPost
			if strings.HasSuffix(c.path, "/state") {
				method = http.MethodPut
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			got := l.send(method, c.path, l.DeviceToken, body, headers...)
			runtime.ReadMemStats(&after)
			if got.status != c.status {
				t.Errorf("answered %d %s", got.status, got.body)
			}
			if used, most := after.TotalAlloc-before.TotalAlloc, c.most*uint64(len(c.body)); used > most {
				t.Errorf("%d MB were allocated for a body of %d KB", used>>20, len(c.body)>>10)
			}
		})
	}
	l.t = t
	l.equal(l.records("notes"), nil)
}
