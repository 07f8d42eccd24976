package deviceapi_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"pdpp/internal/device/wire"
)

// FuzzBatch sends any records, with their right hash: each is taken or refused by name,
// nothing is trouble of ours, and what was taken is stored.
func FuzzBatch(f *testing.F) {
	for _, records := range []string{
		`[]`, `[{"stream":"notes","record_key":"a","data":{"id":"a"},"emitted_at":"2026-03-01T11:00:00Z"}]`, `[{"stream":"log","record_key":"a","op":"delete"}]`,
		`[{"stream":"notes","record_key":"a","data":[[[[]]]],"emitted_at":"x"}]`, `[null,1,"x",{}]`, `[{"stream":"notes","record_key":["a"],"data":{"10":1,"2":{}}}]`,
		`[{"stream":"notes","key":"a","type":"RECORD","data":{"id":"a","id":"b"}}]`, `[{"stream":"tags","record_key":"\u0000","data":{}}]`,
	} {
		f.Add(records)
	}
	f.Fuzz(func(t *testing.T, records string) {
		l := newLaptop(t)
		raw := jsontext.Value(records)
		if raw.Kind() != '[' || raw.Canonicalize() != nil {
			return
		}
		hash, err := wire.Hash(raw)
		if err != nil {
			return
		}
		body := `{"device_id":"` + l.DeviceID + `","source_instance_id":"` + l.SourceInstanceID + `","connector_id":"notes","batch_id":"b","batch_seq":1,"body_hash":"` + hash + `","records":` + records + `}`
		got := l.send(http.MethodPost, "/"+l.DeviceID+"/ingest-batches", l.DeviceToken, []byte(body))
		switch got.status {
		case http.StatusCreated:
			result := decode[wire.BatchResult](t, got)
			if stored := len(l.records("notes")) + len(l.records("log")); int64(stored) > result.Accepted || result.Accepted > 0 && stored == 0 && !strings.Contains(records, "delete") {
				t.Errorf("%d of %+v are stored of %s", stored, result, records)
			}
		case http.StatusBadRequest, http.StatusConflict:
		default:
			t.Errorf("%d %s for %s", got.status, got.body, records)
		}
	})
}
