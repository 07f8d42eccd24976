package backup

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// TestFieldIndexesAreRestored checks that field indexes are in a backup and used after a restore.
func TestFieldIndexesAreRestored(t *testing.T) {
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	home := newHome(t, 1)
	st := openHome(t, home)
	_, err := st.PutManifest(t.Context(), "orchard",
		[]byte(`{"protocol_version":"0.1.0","connector_id":"orchard","version":"1.0.0","display_name":"Orchard","streams":[
		{"name":"trees","semantics":"mutable_state","primary_key":"id","query":{"filter":["kind"]},
		"schema":{"type":"object","required":["id"],"properties":{"id":{"type":"string"},"kind":{"type":"string"}}}}]}`),
		noon)
	must(err)
	l, err := st.StartRun(t.Context(), store.RunStart{RunID: "r1", ConnectionID: "cin_orchard_1", ConnectorID: "orchard",
		Trigger: store.TriggerManual, Holder: "test", TTL: time.Minute,
		Streams: []store.StreamSpec{{Name: "trees"}}}, noon)
	must(err)
	_, err = st.CommitSlice(t.Context(), l, slice.Slice{Records: []slice.Record{
		{Stream: "trees", Key: "a", Data: []byte(`{"id":"a","kind":"pear"}`), EmittedAt: "x"},
		{Stream: "trees", Key: "b", Data: []byte(`{"id":"b","kind":"plum"}`), EmittedAt: "x"},
	}}, noon)
	must(err)
	must(st.FinishRun(t.Context(), l,
		store.RunOutcome{Status: store.RunSucceeded, Event: slice.Event{Type: "run.completed"}}, noon))
	made, err := st.IndexFields(t.Context(), 1, noon)
	if must(err); made {
		t.Fatal("no index was made")
	}
	file := filepath.Join(t.TempDir(), "pdpp.backup")
	_, err = Write(t.Context(), Options{Home: home, File: file, Seal: Seal{Plain: true}, Program: "1.2.3", Now: noon})
	must(err)
	closeStore(t, st)
	to := filepath.Join(t.TempDir(), "home")
	_, err = Restore(t.Context(), RestoreOptions{File: file, Home: to, Keys: Keys{Plain: true}, Now: noon})
	must(err)
	st = openHome(t, to)
	defer closeStore(t, st)
	done, err := st.IndexFields(t.Context(), 1, noon)
	if must(err); !done {
		t.Error("the index was not restored")
	}
	found, err := st.ListRecords(t.Context(),
		store.RecordQuery{AccessFilter: store.AccessFilter{ConnectionID: "cin_orchard_1", Stream: "trees"},
			Where: []store.FieldValue{{Field: "kind", Value: "plum"}}})
	if must(err); len(found) != 1 || found[0].Key != "b" {
		t.Errorf("found %v", found)
	}
}
