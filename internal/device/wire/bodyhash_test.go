package wire

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/protocol"
)

func TestBodyHashIsOverTheCanonicalEnvelopes(t *testing.T) {
	records := []slice.Record{
		{Stream: "notes", Key: "n1", Data: jsontext.Value(`{"b": 1.0, "a": "é"}`), EmittedAt: "2026-03-01T12:00:00Z"},
		{Stream: "notes", Key: "n2", Op: protocol.OpDelete, EmittedAt: "2026-03-01T12:00:01Z"},
	}
	canonical := `[{"data":{"a":"é","b":1},"emitted_at":"2026-03-01T12:00:00Z","record_key":"n1","stream":"notes"},` +
		`{"emitted_at":"2026-03-01T12:00:01Z","op":"delete","record_key":"n2","stream":"notes"}]`
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

// TestBodyHashIsThatOfOtherClients takes hashes that a JavaScript engine made
// (testdata/bodyhash_vectors.mjs).
func TestBodyHashIsThatOfOtherClients(t *testing.T) {
	body, err := os.ReadFile("testdata/bodyhash_vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Batch   `json:",inline"`
		Vectors []struct {
			Name, Records string
			BodyHash      string `json:"body_hash"`
			EnvelopeHash  string `json:"envelope_hash"`
		} `json:"vectors"`
	}
	if err := json.Unmarshal(body, &file, json.MatchCaseInsensitiveNames(true)); err != nil || len(file.Vectors) == 0 {
		t.Fatal(err)
	}
	for _, v := range file.Vectors {
		b := file.Batch
		if err := json.Unmarshal([]byte(v.Records), &b.Records); err != nil {
			t.Fatal(err)
		}
		if got, err := BodyHash(b.Records); err != nil || got != v.BodyHash {
			t.Errorf("%s: %s, %v, want %s", v.Name, got, err, v.BodyHash)
		}
		canonical, err := Hash(jsontext.Value(v.Records))
		if err != nil {
			t.Fatal(err)
		}
		for _, form := range []string{v.BodyHash, v.EnvelopeHash, canonical} {
			if b.BodyHash = form; !b.HashFits(jsontext.Value(v.Records)) {
				t.Errorf("%s: %s does not fit", v.Name, form)
			}
		}
		b.BodyHash = digest([]byte(v.Name))
		if b.HashFits(jsontext.Value(v.Records)) {
			t.Errorf("%s: any hash fits", v.Name)
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
		var raw struct {
			Records jsontext.Value `json:"records"`
		}
		if err := errors.Join(json.Unmarshal(wire, &got), json.Unmarshal(wire, &raw)); err != nil {
			t.Fatal(err)
		}
		if hash, err := BodyHash(got.Records); err != nil || hash != got.BodyHash || !got.HashFits(raw.Records) {
			t.Fatalf("%s hashes to %s, %v, the device said %s", wire, hash, err, got.BodyHash)
		}
	})
}
