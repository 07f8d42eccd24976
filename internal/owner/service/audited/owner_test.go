package audited

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/storage/audit"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// looks are the methods that change nothing of the owner's own, or only what the source
// is asked for: runs have a history of their own.
var looks = map[string]bool{
	"Overview": true, "Connection": true, "Why": true, "Pace": true, "Schedules": true, "Gaps": true, "Gap": true,
	"Bookmarks": true, "BookmarkLog": true, "PreviewRewind": true, "Devices": true, "Imports": true, "ImportByID": true,
	"ReviewSourceFile": true,
	"Uploads":          true, "UploadByID": true, "AddPiece": true, "DeviceCodes": true, "DeviceDiagnostics": true,
	"Connectors": true, "Attention": true, "Work": true,
	"Run": true, "RunRecovery": true, "Stop": true, "Collect": true, "Runs": true, "RunByID": true, "Timeline": true,
	"Cancel": true, "Question": true, "Answer": true, "Acknowledge": true,
	"Streams": true, "Kept": true, "Storage": true, "Days": true, "Records": true, "Record": true, "Search": true,
	"SavedSearches": true, "PreviewDeletion": true, "Deletions": true, "DeletionByID": true, "EndedConnections": true,
	"Aggregate": true, "Changes": true, "Grants": true, "Grant": true, "GrantRequest": true,
	"Tokens": true, "Sessions": true, "Passkeys": true, "RecoveryCodes": true, "PushTargets": true, "TestPush": true,
	"SemanticSearch": true, "People": true, "Person": true,
	"Webhooks": true, "TestWebhook": true, "Triggers": true,
	"QuietHours": true, "Audit": true, "Runtime": true,
}

type kept struct {
	store.Audit
	entries []store.AuditEntry
}

func (k *kept) AppendAudit(_ context.Context, e store.AuditEntry) error {
	k.entries = append(k.entries, e)
	return nil
}

// Every method of the owner is either audited or listed as an exception, including methods that are added later.
func TestEveryDeedIsWrittenDown(t *testing.T) {
	for name, status := range map[string]int{"done": http.StatusOK, "refused": http.StatusNotFound,
		"failed": http.StatusInternalServerError} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			io.WriteString(w, `{"connected":true}`) // to ask for a sign-in that still waits is no deed
		}))
		defer server.Close()
		k := &kept{}
		o := NewAuditedOwner(api.NewClient(server.URL, "t", nil), audit.New(audit.Config{Store: k, Now: time.Now}))
		methods := reflect.TypeFor[api.Owner]()
		for i := range methods.NumMethod() {
			m := methods.Method(i)
			k.entries = nil
			var args []reflect.Value
			for j := range m.Type.NumIn() {
				switch in := m.Type.In(j); in {
				case reflect.TypeFor[context.Context]():
					args = append(args, reflect.ValueOf(t.Context()))
				case reflect.TypeFor[io.Writer]():
					args = append(args, reflect.ValueOf(io.Discard))
				case reflect.TypeFor[string]():
					args = append(args, reflect.ValueOf("thing"))
				default:
					args = append(args, reflect.Zero(in))
				}
			}
			reflect.ValueOf(o).MethodByName(m.Name).Call(args)
			switch {
			case looks[m.Name] && len(k.entries) > 0:
				t.Errorf("%s only looks and wrote %+v", m.Name, k.entries)
			case !looks[m.Name] && len(k.entries) == 0:
				t.Errorf("%s is not written down", m.Name)
			case !looks[m.Name] && k.entries[0].Outcome != name:
				t.Errorf("%s: a %d is %q", m.Name, status, k.entries[0].Outcome)
			}
		}
	}
}

// naming is an owner who connects a connector.
type naming struct {
	api.Owner
	foreign *api.Foreign
}

func (n naming) Connectors(context.Context) ([]api.Connector, error) {
	return []api.Connector{{ID: "other", Foreign: &api.Foreign{}}, {ID: "gate", Foreign: n.foreign}}, nil
}

func (naming) Connect(context.Context, api.Connect) (api.Detail, error) {
	return api.Detail{}, nil
}

// The first connection to a foreign connector confirms it, which is a deed of its own.
func TestNamingAForeignConnectorIsWrittenDown(t *testing.T) {
	for name, c := range map[string]struct {
		foreign *api.Foreign
		want    []string
	}{
		"built in":  {nil, []string{"connection_add"}},
		"new":       {&api.Foreign{}, []string{"connector_confirm", "connection_add"}},
		"confirmed": {&api.Foreign{Confirmed: true}, []string{"connection_add"}},
		"changed":   {&api.Foreign{Changed: true}, []string{"connection_add"}},
	} {
		k := &kept{}
		if _, err := NewAuditedOwner(naming{foreign: c.foreign},
			audit.New(audit.Config{Store: k, Now: time.Now})).Connect(t.Context(),
			api.Connect{ConnectorID: "gate"}); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, e := range k.entries {
			got = append(got, e.Kind)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
