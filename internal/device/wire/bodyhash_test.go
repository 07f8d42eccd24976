package wire

import (
	"crypto/sha256"
	"encoding/hex"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"pdpp/internal/slice"
	"pdpp/protocol"
)

func TestBodyHashIsOverTheCanonicalEnvelopes(t *testing.T) {
	records := []slice.Record{
		{Stream: "notes", Key: "n1", Data: jsontext.Value(`{"b": 1.0, "a": "é"}`), EmittedAt: "2026-03-01T12:00:00Z"},
		{Stream: "notes", Key: "n2", Op: protocol.OpDelete, EmittedAt: "2026-03-01T12:00:01Z"},
	}
	canonical := `[{"data":{"a":"é","b":1},"emitted_at":"2026-03-01T12:00:00Z","record_key":"n1","stream":"notes"},` +
		`{"data":null,"emitted_at":"2026-03-01T12:00:01Z","op":"delete","record_key":"n2","stream":"notes"}]`
	sum := sha256.Sum256([]byte(canonical))
	got, err := BodyHash(records)
	if err != nil || got != hex.EncodeToString(sum[:]) {
		t.Errorf("hash %s, %v, want %x", got, err, sum)
	}
	if string(records[0].Data) != `{"b": 1.0, "a": "é"}` {
		t.Errorf("hashing changed the data to %s", records[0].Data)
	}
	empty := sha256.Sum256([]byte(`[]`))
	if got, err := BodyHash(nil); err != nil || got != hex.EncodeToString(empty[:]) {
		t.Errorf("hash of nothing %s, %v", got, err)
	}
	for _, bad := range []string{`{`, `{"a":1,"a":2}`, "\"\xff\""} {
		if _, err := BodyHash([]slice.Record{{Data: jsontext.Value(bad)}}); err == nil {
			t.Errorf("%q has a hash", bad)
		}
	}
}

// FuzzBodyHash sends records over the wire: the server computes the device's hash.
func FuzzBodyHash(f *testing.F) {
	f.Add(`{"b":1,"a":[1e2,null]}`, "k", true)
	f.Add(`"\ud83d\ude00"`, "<&>", false)
	f.Add(`12345678901234567890`, "\u2028", false)
	f.Fuzz(func(t *testing.T, data, key string, deleted bool) {
		r := slice.Record{Stream: "notes", Key: key, Data: jsontext.Value(data)}
		if deleted {
			r.Op, r.Data = protocol.OpDelete, nil
		}
		sent := []slice.Record{r}
		want, err := BodyHash(sent)
		if err != nil {
			return
		}
		wire, err := json.Marshal(Batch{BodyHash: want, Records: sent})
		if err != nil {
			t.Fatal(err)
		}
		var got Batch
		if err := json.Unmarshal(wire, &got); err != nil {
			t.Fatal(err)
		}
		if hash, err := BodyHash(got.Records); err != nil || hash != got.BodyHash {
			t.Fatalf("%s hashes to %s, %v, the device said %s", wire, hash, err, got.BodyHash)
		}
	})
}
