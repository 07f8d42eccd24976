package foreign

import "testing"

// Whatever a program writes, a line becomes an event or is refused, and what an event carries can
// be passed on.
func FuzzRead(f *testing.F) {
	for _, line := range []string{
		`{"type":"RECORD","stream":"pages","record":{"id":1},"version":3}`, `{"type":"state","value":{"at":1}}`,
		`{"type":"BATCH","stream":"pages","encoding":{"format":"jsonl","compression":"gzip"},"manifest":["file:///x"]}`,
		`{"type":"STATE","state":{"type":"STREAM","stream":{"stream_descriptor":{"name":"p"}},` +
			`"sourceStats":{"recordCount":1e300}}}`,
		`{"type":"TRACE","trace":{"type":"STREAM_STATUS","stream_status":{"reasons":[{"type":"RATE_LIMITED",` +
			`"rate_limited":{"quota_reset":9e18}}]}}}`,
		`{"type":"CONTROL","control":{"connectorConfig":{"config":{"a":1}}}}`, `{"type":`, `[1]`, `null`, `text`,
	} {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		for _, k := range []TapProtocol{Singer, Airbyte} {
			e, err := dialectOf(k).read(line)
			if err == nil && len(e.data) > 0 && !e.data.IsValid() {
				t.Errorf("%s: an event carries what is no JSON: %q", k, e.data)
			}
			if e.kind == eventRecord && e.data.Kind() == '{' {
				data, err := withDigest(e.data)
				if err == nil && recordKey(data, []string{DigestField}) == "" {
					t.Errorf("a record has no digest: %q", data)
				}
			}
		}
	})
}
