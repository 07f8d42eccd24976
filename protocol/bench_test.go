package protocol

import (
	"encoding/json"
	"testing"
)

// benchLine is a RECORD of 550 bytes with what a message stream shows: short
// strings, a longer text with escapes, numbers, a nested object, a list.
const benchLine = `{"type":"RECORD","stream":"messages","key":"msg_01HZX3K9V7Q2","data":{"id":"msg_01HZX3K9V7Q2",` +
	`"conversation_id":"conv_8842119","author":"ada@example.org","subject":"Minutes of the garden committee",` +
	`"body":"We met at seven. The fence by the north bed is mended, the seeds are ordered, and the \"old\" pump goes to ` +
	`Mr Hale.\nNext time bring the keys, both.","sent_at":"2026-03-04T19:22:07Z","size_bytes":1834,"unread":false,` +
	`"labels":["inbox","garden","minutes"],"thread":{"position":4,"root":"msg_01HZX000001"}},` +
	`"emitted_at":"2026-03-04T20:00:00.125Z"}`

// plainRecord is what encoding/json needs to read the same envelope.
type plainRecord struct {
	Type      string          `json:"type"`
	Stream    string          `json:"stream"`
	Key       string          `json:"key"`
	Op        *string         `json:"op"`
	Data      json.RawMessage `json:"data"`
	EmittedAt string          `json:"emitted_at"`
}

func BenchmarkDecodeRecord(b *testing.B) {
	line, dec := []byte(benchLine), NewDecoder(FromConnector)
	b.SetBytes(int64(len(line)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := dec.Decode(line); err != nil {
			b.Fatal(err)
		}
	}
}

// The envelope, and the envelope with the fields that our decoder also returns.
func BenchmarkDecodeRecordEncodingJSON(b *testing.B) {
	line := []byte(benchLine)
	for _, c := range []struct {
		name   string
		fields bool
	}{{"envelope", false}, {"fields", true}} {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(line)))
			b.ReportAllocs()
			for b.Loop() {
				var r plainRecord
				if err := json.Unmarshal(line, &r); err != nil {
					b.Fatal(err)
				}
				if !c.fields {
					continue
				}
				var fields map[string]json.RawMessage
				if err := json.Unmarshal(r.Data, &fields); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// The benchmark measures a line of 550 bytes that both decoders read alike.
func TestBenchLine(t *testing.T) {
	r := decoded[*Record](t, FromConnector, []byte(benchLine))
	var plain plainRecord
	if err := json.Unmarshal([]byte(benchLine), &plain); err != nil {
		t.Fatal(err)
	}
	if len(benchLine) != 550 || string(plain.Data) != string(r.Data) || plain.Key != r.Key || len(r.Fields()) != 10 {
		t.Errorf("%d bytes, %d fields", len(benchLine), len(r.Fields()))
	}
}
