package deviceapi_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/internal/device/wire"
)

// FuzzRequest sends any body to any address of a device, with a good token. A batch gets its right hash. Each
// request is accepted or refused by name, none is a fault of the server, what is counted as accepted is stored,
// and another device keeps what it has. One server serves all inputs, as in operation: making one for each
// took the time of all but a hundred of them.
func FuzzRequest(f *testing.F) {
	l, _ := withFiles(f)
	other := laptop{l.bed, l.enrol(l.code("attic", ""), "")}
	other.wants(other.upload(other.batch(1, note("theirs", ""))), http.StatusCreated, "")
	const batch = 0
	routes := []struct{ method, path string }{
		{http.MethodPost, "/" + l.DeviceID + "/ingest-batches"}, {http.MethodPost, "/" + l.DeviceID + "/ingest-batches"},
		{http.MethodPost, "/" + l.DeviceID + "/heartbeat"}, {http.MethodPut, l.own("/state")},
		{http.MethodPost, l.own("/local-collector-gaps")}, {http.MethodPost, l.own("/local-collector-gaps/recovered")},
		{http.MethodPost, l.own("/terminal-run-commits")}, {http.MethodPost, l.own("/terminal-collection")},
		{http.MethodPut, l.own("/blobs/" + strings.Repeat("ab", 32))}, {http.MethodPost, "/enroll"},
	}
	names := strings.NewReplacer("DEVICE", l.DeviceID, "SOURCE", l.SourceInstanceID, "CONNECTION", l.ConnectorInstanceID)
	const ids = `"device_id":"DEVICE","source_instance_id":"SOURCE",` +
		`"connector_id":"notes","connector_instance_id":"CONNECTION"`
	for route, bodies := range [][]string{
		{`[]`, `[{"stream":"notes","record_key":"a","data":{"id":"a"},"emitted_at":"2026-03-01T11:00:00Z"}]`,
			`[{"stream":"log","record_key":"a","op":"delete"}]`,
			`[{"stream":"notes","record_key":"a","data":[[[[]]]],"emitted_at":"x"}]`,
			`[null,1,"x",{}]`, `[{"stream":"notes","record_key":["a"],"data":{"10":1,"2":{}}}]`,
			`[{"stream":"notes","key":"a","type":"RECORD","data":{"id":"a","id":"b"}}]`,
			`[{"stream":"tags","record_key":"\u0000","data":{}}]`},
		{`{` + ids + `,"batch_id":"b","batch_seq":1,"body_hash":"00","records":[]}`},
		{`{` + ids + `,"status":"ok","records_pending":1,"outbox":{"pending":1},` +
			`"sources":[{"source_instance_id":"SOURCE"}]}`},
		{`{"state":{"notes":{"at":1}}}`},
		{`{"stream":"notes","record_key":"a","reason":"x","gaps":[{"stream":"notes","record_key":"a"}]}`},
		{`{"stream":"notes","record_key":"a","gap_id":"g"}`},
		{`{"version":1,"commit_id":"c","run_id":"r",` + ids + `,"state_delta":{"notes":{}},"terminal_facts":{}}`},
		{`{` + ids + `,"run_id":"r","streams":[{"stream":"notes","collected":1}]}`},
		{"any bytes"},
		{`{"code":"lde_none","device_label":"x"}`},
	} {
		for _, body := range bodies {
			f.Add(uint8(route), body)
		}
	}
	n := 0
	f.Fuzz(func(t *testing.T, route uint8, body string) {
		l.t, other.t = t, t
		n++
		at := int(route) % len(routes)
		to, headers := routes[at], []string{wire.OffsetHeader, "0", wire.LengthHeader, fmt.Sprint(len(body))}
		records := body
		if at == batch {
			raw := jsontext.Value(body)
			if raw.Kind() != '[' || raw.Canonicalize() != nil {
				return
			}
			hash, err := wire.Hash(raw)
			if err != nil {
				return
			}
			body = fmt.Sprintf(`{`+ids+`,"batch_id":"b%d","batch_seq":%d,"body_hash":"%s","records":%s}`, n, n, hash, records)
		}
		before := len(l.records("notes")) + len(l.records("log"))
		token := l.DeviceToken
		if to.path == "/enroll" {
			token = ""
			l.from = fmt.Sprintf("10.%d.%d.%d:1", n>>16&255, n>>8&255, n&255) // each stranger has an allowance of its own
		}
		got := l.send(to.method, to.path, token, []byte(names.Replace(body)), headers...)
		l.from = ""
		after := len(l.records("notes")) + len(l.records("log"))
		switch {
		case got.status == http.StatusCreated && at == batch:
			result := decode[wire.BatchResult](t, got)
			lost := result.Accepted > 0 && after == 0 && !strings.Contains(records, "delete")
			if int64(after-before) > result.Accepted || lost {
				t.Errorf("%d and then %d are stored, %+v of %s", before, after, result, records)
			}
		case got.status >= http.StatusInternalServerError:
			t.Errorf("%s: %d %s for %q", to.path, got.status, got.body, body)
		case after != before && at > 1:
			t.Errorf("%s: %d and then %d are stored for %q", to.path, before, after, body)
		}
		other.equal(other.records("notes"), []string{"theirs"})
	})
}
