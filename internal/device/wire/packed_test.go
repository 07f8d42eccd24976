package wire

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/protocol"
)

// packedCases are JSON values. Hashing rewrites some of them to the canonical form and leaves the
// others unchanged.
var packedCases = []string{
	`{}`, `[]`, `{"b":1,"a":2}`, ` { "b" : [ 1 , 2 ] , "a" : { "d" : null , "c" : true } } `, `{"a":[],"b":{},"c":[{}]}`,
	`{"n":0,"m":-1,"x":123456789012345}`, `{"n":-0}`, `{"n":1.0}`, `{"n":1.5,"m":0.000001}`, `{"n":1e3}`,
	`{"n":12345678901234567890}`, `{"n":9007199254740993}`, `{"n":0.1000}`, `{"n":1e-7}`, `{"n":01}`, `{"n":1.}`,
	`{"n":.5}`, `{"n":-}`, `{"n":1.2.3}`,
	`{"t":"a\nb\"c\\d\te\u0001\u001f"}`, `{"t":"\u000a"}`, `{"t":"\u001F"}`, `{"t":"\/"}`, `{"t":"\u00e9"}`, `{"t":"é漢😀"}`,
	`{"t":"\ud83d\ude00"}`, `{"t":"\u2028"}`, "{\"t\":\"\u2028\"}", "{\"t\":\"\xff\"}", "{\"t\":\"a\x01\"}", `{"t":"\x"}`,
	`{"t":"\`, `{"t":"`, `{"t":"\u00`,
	`{"10":1,"9":2,"a":3}`, `{"__proto__":1,"a":2}`, `{"é":1,"z":2}`, `{"a\u0062":1,"a":2}`, `{"ab":1,"a":2,"abc":3,"":4}`,
	`{"2fa":1,"01":2}`,
	`{"a":1,"a":1}`, `{"b":1,"a":2,"b":3}`, `{"a":1,}`, `{,}`, `{"a"}`, `{"a":}`, `[1,]`, `[,1]`, `[1 2]`, `{"a":1 "b":2}`,
	`{`, `[`, `{"a":[}`, `tru`, `nul`, `{}{}`, ``, `"text"`, `7`,
	strings.Repeat(`[`, 63) + strings.Repeat(`]`, 63), strings.Repeat(`{"b":1,"a":`, 70) + `1` + strings.Repeat(`}`, 70),
}

// What is packed has the hash that other clients make of it, can be read again, and has lost
// nothing; what is no JSON cannot be packed.
func TestPacked(t *testing.T) {
	quick := 0
	for _, data := range packedCases {
		if checkPacked(t, data, "n1") {
			quick++
		}
	}
	if quick < 12 {
		t.Errorf("%d values are hashed as they are sent", quick)
	}
	all := []slice.Record{
		{Stream: "notes", Key: "a\u2028<&>\"", Data: jsontext.Value(`{"z":1,"a":1.0}`), EmittedAt: "2026-03-01T12:00:00Z",
			Blobs: []slice.Blob{{Field: "f", SHA256: "00", Bytes: 3}}},
		{Stream: "notes", Key: "b", Op: protocol.OpDelete, EmittedAt: "2026-03-01T12:00:00Z"},
		{Stream: "notes", Key: "c", Data: jsontext.Value(`{"text":"` + strings.Repeat("x", 2<<20) + `"}`),
			EmittedAt: "2026-03-01T12:00:00Z", Blobs: []slice.Blob{}},
		{Stream: "notes", Key: "d", Data: jsontext.Value(`{"b":2,"a":1}`), EmittedAt: "2026-03-01T12:00:00Z"},
	}
	var p Packer
	for range 2 { // its memory is used again
		checkRecords(t, &p, all)
	}
	if _, err := p.Pack([]slice.Record{{Stream: "notes", Key: "\xff"}}); err == nil {
		t.Error("a key that is no text is packed")
	}
}

// FuzzPacked holds the quick form against the long way.
func FuzzPacked(f *testing.F) {
	for _, data := range packedCases {
		f.Add(data, "key")
	}
	f.Fuzz(func(t *testing.T, data, key string) { checkPacked(t, data, key) })
}

// checkPacked reports whether the data was hashed as it is sent.
func checkPacked(t *testing.T, data, key string) bool {
	t.Helper()
	record := slice.Record{Stream: "notes", Key: key, Data: jsontext.Value(data), EmittedAt: "2026-03-01T12:00:00Z"}
	_, err := encodeInPropertyOrder([]slice.Record{record})
	packed, packErr := new(Packer).Pack([]slice.Record{record})
	if (err == nil) != (packErr == nil) {
		t.Fatalf("%q is packed: %v, the long way: %v", data, packErr, err)
	}
	if err != nil {
		return false
	}
	checkRecords(t, new(Packer), []slice.Record{record})
	list, err := packed.list()
	if err != nil {
		t.Fatal(err)
	}
	return digest(list) == packed.Hash
}

func checkRecords(t *testing.T, p *Packer, records []slice.Record) {
	t.Helper()
	packed, err := p.Pack(records)
	if err != nil {
		t.Fatal(err)
	}
	long, err := encodeInPropertyOrder(records)
	if err != nil || digest(long) != packed.Hash {
		t.Fatalf("%.300s has the hash %s, want that of %.300s, %v", records[0].Data, packed.Hash, long, err)
	}
	list, err := packed.list()
	if b := (Batch{BodyHash: packed.Hash}); err != nil || !b.HashFits(list) || int64(len(list)) != packed.Bytes ||
		packed.Count != len(records) {
		t.Fatalf("%+v is packed as %.300s, %v", records[0], list, err)
	}
	got, err := packed.Records()
	if err != nil || len(got) != len(records) {
		t.Fatalf("%d records came back, %v", len(got), err)
	}
	for i, r := range got {
		want := records[i]
		if !slices.Equal(numbersOf(t, want.Data), numbersOf(t, r.Data)) || !sameJSON(t, want.Data, r.Data) {
			t.Fatalf("%.300s came back as %.300s", want.Data, r.Data)
		}
		if r.Stream != want.Stream || r.Key != want.Key || r.Op != want.Op || r.EmittedAt != want.EmittedAt ||
			(r.Blobs == nil) != (want.Blobs == nil) || !slices.Equal(r.Blobs, want.Blobs) {
			t.Fatalf("%+v came back as %+v", want, r)
		}
	}
}

// numbersOf are the numbers in a value as they are spelled, sorted.
func numbersOf(t *testing.T, v jsontext.Value) (all []string) {
	t.Helper()
	dec := jsontext.NewDecoder(bytes.NewReader(v))
	for {
		token, err := dec.ReadToken()
		if errors.Is(err, io.EOF) {
			slices.Sort(all)
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		if token.Kind() == '0' {
			all = append(all, token.String())
		}
	}
}

func sameJSON(t *testing.T, a, b jsontext.Value) bool {
	t.Helper()
	x, y := a.Clone(), b.Clone()
	if len(x)+len(y) == 0 {
		return true
	}
	if err := errors.Join(x.Canonicalize(), y.Canonicalize()); err != nil {
		t.Fatal(err)
	}
	return bytes.Equal(x, y)
}

// Records go out as they were packed, to a server that takes compressed bodies and to one that does
// not; what cannot be read any more is judged, not tried again.
func TestPackedOnTheWire(t *testing.T) {
	records := []slice.Record{{Stream: "notes", Key: "n1", Data: jsontext.Value(`{"b":1,"a":"x"}`),
		EmittedAt: "2026-03-01T12:00:00Z"}}
	packed, err := new(Packer).Pack(records)
	if err != nil {
		t.Fatal(err)
	}
	var got []byte
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body io.Reader = r.Body
		if r.Header.Get("Content-Encoding") == "gzip" {
			if body, err = gzip.NewReader(r.Body); err != nil {
				t.Error(err)
				return
			}
		}
		if got, err = io.ReadAll(body); err != nil {
			t.Error(err)
		}
		w.WriteHeader(http.StatusCreated)
		_, _ = w.Write([]byte(`{"object":"device_ingest_batch_result","status":"accepted","accepted_record_count":1,` +
			`"rejected_record_count":0}`))
	}))
	defer server.Close()
	for _, compress := range []bool{false, true} {
		c := &Client{BaseURL: server.URL, DeviceID: "dev", Compress: compress}
		b := Batch{SourceInstanceID: "src", ConnectorID: "notes", BatchID: "b", BatchSeq: 1,
			State: map[string]jsontext.Value{"notes": jsontext.Value(`3`)}}
		if _, err := c.IngestPacked(t.Context(), b, &packed); err != nil {
			t.Fatal(err)
		}
		var sent Batch
		if err := json.Unmarshal(got, &sent); err != nil || len(sent.Records) != 1 || sent.BodyHash != packed.Hash ||
			sent.DeviceID != "dev" || string(sent.State["notes"]) != "3" {
			t.Errorf("compressed %t: %s, %v", compress, got, err)
		}
	}
	broken := packed
	broken.Gzip = packed.Gzip[:len(packed.Gzip)-5]
	var refusal *Error
	if _, err := (&Client{BaseURL: server.URL, DeviceID: "dev"}).IngestPacked(t.Context(), Batch{},
		&broken); !errors.As(err, &refusal) || refusal.Action() != PutAside {
		t.Errorf("what cannot be read is %v", err)
	}
	if _, err := broken.Records(); !errors.As(err, &refusal) || refusal.Action() != PutAside {
		t.Errorf("what cannot be read is %v", err)
	}
}
