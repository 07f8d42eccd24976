package cli

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/pdpp-go/pdpp/internal/cli/failure"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite"
)

// A call from outside leaves one request for a run on a running server. A wrong secret and a removed trigger have the
// answer of an address that never was one.
func TestTriggerOfAServer(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	folder := filepath.Join(home, "connectors", "nursery")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{"manifest.json": nurseryManifest, "connector": "#!/bin/sh\nexit 1\n"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	s := serveLocal(t, map[string]string{"PDPP_OWNER_PASSWORD": servedPassword, "PDPP_HOME": home}, "--role", "web")
	run := func(args ...string) []byte {
		t.Helper()
		code, out, errOut := s.pdpp(args...)
		if code != failure.ExitOK {
			t.Fatalf("%v: exit %d, %s%s", args, code, out, errOut)
		}
		return []byte(out)
	}
	run("connections", "add", "nursery")
	var added struct {
		Trigger struct {
			ID string `json:"trigger_id"`
		} `json:"trigger"`
		Secret string `json:"secret"`
	}
	if err := json.Unmarshal(run("triggers", "add", "cin_nursery_1", "--json"), &added); err != nil {
		t.Fatal(err)
	}
	path := "/hooks/" + added.Trigger.ID + "/"
	for range 3 {
		if got := s.visitor().tell("POST", path+added.Secret, map[string]any{}); got.StatusCode != http.StatusAccepted {
			t.Fatalf("a call: %d %s", got.StatusCode, got.body)
		}
	}
	st, err := sqlite.Open(t.Context(), filepath.Join(home, "pdpp.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	waiting, err := st.ListRunRequests(t.Context(), "cin_nursery_1")
	if err != nil || len(waiting) != 1 || waiting[0].Trigger != store.TriggerWebhook {
		t.Errorf("requested %+v, %v", waiting, err)
	}
	strange := s.visitor().tell("POST", path+"x", map[string]any{})
	run("triggers", "remove", added.Trigger.ID)
	gone := s.visitor().tell("POST", path+added.Secret, map[string]any{})
	never := s.visitor().tell("POST", "/hooks/tr_none/"+added.Secret, map[string]any{})
	for name, got := range map[string]said{"a wrong secret": strange, "a removed trigger": gone, "none": never} {
		if got.StatusCode != http.StatusNotFound {
			t.Errorf("%s: %d %s", name, got.StatusCode, got.body)
		}
	}
	s.holdsNone(added.Secret)
}
