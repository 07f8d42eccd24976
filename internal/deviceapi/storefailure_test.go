package deviceapi_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/internal/collect/catalog"
	"github.com/pdpp-go/pdpp/internal/device/wire"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// failingStore fails one call, counted from 1.
type failingStore struct {
	store.Store
	err    error
	only   string // the method that can fail; empty for all
	failAt int
	calls  int
	failed string // the method that failed
}

func (f *failingStore) check(method string) error {
	if f.only != "" && f.only != method {
		return nil
	}
	if f.calls++; f.calls != f.failAt {
		return nil
	}
	f.failed = method
	return f.err
}

// failing calls a method of one argument, unless the call is to fail.
func failing[A, R any](ctx context.Context, f *failingStore, name string, method func(context.Context, A) (R, error),
	a A) (R, error) {
	if err := f.check(name); err != nil {
		return *new(R), err
	}
	return method(ctx, a)
}

func (f *failingStore) Connection(ctx context.Context, id string) (store.Connection, error) {
	return failing(ctx, f, "Connection", f.Store.Connection, id)
}

func (f *failingStore) Deletions(ctx context.Context, id string) ([]store.Deletion, error) {
	return failing(ctx, f, "Deletions", f.Store.Deletions, id)
}

func (f *failingStore) Device(ctx context.Context, id string) (store.Device, error) {
	return failing(ctx, f, "Device", f.Store.Device, id)
}

func (f *failingStore) DeviceCode(ctx context.Context, hash []byte) (store.DeviceCode, error) {
	return failing(ctx, f, "DeviceCode", f.Store.DeviceCode, hash)
}

func (f *failingStore) DeviceCredential(ctx context.Context, hash []byte) (store.DeviceCredential, error) {
	return failing(ctx, f, "DeviceCredential", f.Store.DeviceCredential, hash)
}

func (f *failingStore) DeviceSource(ctx context.Context, id string) (store.DeviceSource, error) {
	return failing(ctx, f, "DeviceSource", f.Store.DeviceSource, id)
}

func (f *failingStore) Gap(ctx context.Context, id string) (store.Gap, error) {
	return failing(ctx, f, "Gap", f.Store.Gap, id)
}

func (f *failingStore) RunRequest(ctx context.Context, id string) (store.RunRequest, error) {
	return failing(ctx, f, "RunRequest", f.Store.RunRequest, id)
}

func (f *failingStore) Cursors(ctx context.Context, id, grantID string) ([]store.Cursor, error) {
	return failing(ctx, f, "Cursors", func(ctx context.Context, id string) ([]store.Cursor, error) {
		return f.Store.Cursors(ctx, id, grantID)
	}, id)
}

func (f *failingStore) FindBlob(ctx context.Context, hash string, in []store.AccessFilter) (store.Blob, error) {
	return failing(ctx, f, "FindBlob", func(ctx context.Context, hash string) (store.Blob, error) {
		return f.Store.FindBlob(ctx, hash, in)
	}, hash)
}

func (f *failingStore) Receipt(ctx context.Context, device, batch string) (store.Receipt, error) {
	return failing(ctx, f, "Receipt", func(ctx context.Context, batch string) (store.Receipt, error) {
		return f.Store.Receipt(ctx, device, batch)
	}, batch)
}

func (f *failingStore) TerminalReceipt(ctx context.Context, source, commit string) (store.TerminalReceipt, error) {
	return failing(ctx, f, "TerminalReceipt", func(ctx context.Context, commit string) (store.TerminalReceipt, error) {
		return f.Store.TerminalReceipt(ctx, source, commit)
	}, commit)
}

func (f *failingStore) PutManifest(ctx context.Context, connector string, body []byte, now time.Time) (int64, error) {
	return failing(ctx, f, "PutManifest", func(ctx context.Context, body []byte) (int64, error) {
		return f.Store.PutManifest(ctx, connector, body, now)
	}, body)
}

func (f *failingStore) EnrolDevice(ctx context.Context, e store.Enrolment, now time.Time) (store.EnrolmentResult,
	error) {
	return failing(ctx, f, "EnrolDevice", func(ctx context.Context, e store.Enrolment) (store.EnrolmentResult, error) {
		return f.Store.EnrolDevice(ctx, e, now)
	}, e)
}

func (f *failingStore) RevokeDevice(ctx context.Context, id string, now time.Time) (time.Time, error) {
	return failing(ctx, f, "RevokeDevice", func(ctx context.Context, id string) (time.Time, error) {
		return f.Store.RevokeDevice(ctx, id, now)
	}, id)
}

func (f *failingStore) LeaseDeviceGaps(ctx context.Context, u store.Uploader, limit int, now time.Time) ([]store.Gap,
	error) {
	return failing(ctx, f, "LeaseDeviceGaps", func(ctx context.Context, u store.Uploader) ([]store.Gap, error) {
		return f.Store.LeaseDeviceGaps(ctx, u, limit, now)
	}, u)
}

func (f *failingStore) UseDeviceCredential(ctx context.Context, id, address string, now time.Time) error {
	if err := f.check("UseDeviceCredential"); err != nil {
		return err
	}
	return f.Store.UseDeviceCredential(ctx, id, address, now)
}

func (f *failingStore) RotateDeviceCredential(ctx context.Context, c store.DeviceCredential) error {
	if err := f.check("RotateDeviceCredential"); err != nil {
		return err
	}
	return f.Store.RotateDeviceCredential(ctx, c)
}

func (f *failingStore) NoteInstallation(ctx context.Context, device, installation string, now time.Time) error {
	if err := f.check("NoteInstallation"); err != nil {
		return err
	}
	return f.Store.NoteInstallation(ctx, device, installation, now)
}

func (f *failingStore) PutHeartbeat(ctx context.Context, b store.DeviceHeartbeat, now time.Time) error {
	if err := f.check("PutHeartbeat"); err != nil {
		return err
	}
	return f.Store.PutHeartbeat(ctx, b, now)
}

// CommitUpload commits before it reports store.ErrExists: the same upload was committed by another request.
func (f *failingStore) CommitUpload(ctx context.Context, u store.Upload, now time.Time) (store.Committed, error) {
	err := f.check("CommitUpload")
	if err != nil && !errors.Is(err, store.ErrExists) {
		return store.Committed{}, err
	}
	done, failed := f.Store.CommitUpload(ctx, u, now)
	return done, errors.Join(err, failed)
}

// TestStoreFailures lets each call to the store fail once, in each way, for each request. A failing disk is never
// answered as success, and the request then succeeds. The transcript has the answer to each failure.
func TestStoreFailures(t *testing.T) {
	l, _ := withFiles(t)
	l.wants(l.piece(hashed("scan"), 4, 0, "scan"), http.StatusOK, "")
	gap := wire.Gap{SourceInstanceID: l.SourceInstanceID, ConnectorID: "notes", Reason: wire.GapPolicyBudget,
		Stream: "notes"}
	commit := wire.TerminalCommit{Version: 1, RunID: "r", DeviceID: l.DeviceID, SourceInstanceID: l.SourceInstanceID,
		ConnectorID: "notes", ConnectorInstanceID: l.ConnectorInstanceID, StateDelta: map[string]jsontext.Value{}}
	post := func(path string, body any) answer {
		return l.send(http.MethodPost, path, l.DeviceToken, encode(t, body))
	}
	n := 0
	for _, request := range []struct {
		name string
		send func() answer
	}{
		{"enrol", func() answer {
			return l.sendFrom("192.0.2.1:1", "/enroll", "", wire.Enrollment{Code: l.code(fmt.Sprint("b", n), "")})
		}},
		{"rotate", func() answer { return post("/"+l.DeviceID+"/token", nil) }},
		{"heartbeat", func() answer {
			return post("/"+l.DeviceID+"/heartbeat", wire.Heartbeat{SourceInstanceID: l.SourceInstanceID,
				ConnectorID: "notes", Status: wire.StatusHealthy, InstallationID: fmt.Sprint("i", n%2)})
		}},
		{"read state", func() answer { return l.send(http.MethodGet, l.own("/state"), l.DeviceToken, nil) }},
		{"put state", func() answer {
			state := map[string]jsontext.Value{"notes": jsontext.Value(fmt.Sprint(n))}
			return l.send(http.MethodPut, l.own("/state"), l.DeviceToken, encode(t, wire.StateUpdate{State: state}))
		}},
		{"batch", func() answer { return l.upload(l.batch(int64(n), l.fileNote("a", "scan"), l.fileNote("b", "other"))) }},
		{"read file", func() answer {
			return l.send(http.MethodGet, l.own("/blobs/"+hashed("other")), l.DeviceToken, nil)
		}},
		{"lease gaps", func() answer { return l.send(http.MethodGet, l.own("/gaps"), l.DeviceToken, nil) }},
		{"gap", func() answer { return post(l.own("/local-collector-gaps"), gap) }},
		{"recovered gap", func() answer { return post(l.own("/local-collector-gaps/recovered"), gap) }},
		{"terminal commit", func() answer {
			commit.CommitID = fmt.Sprint("c", n)
			return post(l.own("/terminal-run-commits"), commit)
		}},
		{"revoke", func() answer { return post("/"+l.DeviceID+"/self-revoke", nil) }},
	} {
		disk := errors.New("disk I/O error")
		for _, way := range []struct {
			err  error
			only string
		}{{store.ErrNotFound, ""}, {store.ErrExists, "CommitUpload"}, {store.ErrDeviceLimit, "EnrolDevice"}, {disk, ""}} {
			if request.name == "revoke" && !errors.Is(way.err, disk) {
				continue // without a failure it would end the device
			}
			for failAt := 1; ; failAt++ {
				n++
				l.pass(time.Minute) // the use of a token is written once a minute
				f := &failingStore{Store: l.store, err: way.err, only: way.only, failAt: failAt}
				l.config.Store = f
				l.mount()
				got := request.send()
				if f.failed == "" {
					if got.status >= 300 {
						t.Errorf("%s without failure: %d %s", request.name, got.status, got.body)
					}
					break
				}
				if errors.Is(way.err, disk) && got.status < 500 {
					t.Errorf("%s: %s fails, answered %d %s", request.name, f.failed, got.status, got.body)
				}
				l.transcript.add("%s, %s: %v: %d %s", request.name, f.failed, way.err, got.status, got.code)
			}
		}
	}
}

// unknownConnectors has no connector.
type unknownConnectors struct{ err error }

func (u unknownConnectors) Find(context.Context, string) (catalog.Connector, error) {
	return catalog.Connector{}, u.err
}

// TestUnknownConnector holds that a device may try again once the server knows the connector, and that a client
// which is gone gets no answer.
func TestUnknownConnector(t *testing.T) {
	l := newLaptop(t)
	for err, want := range map[error]int{catalog.ErrUnknownConnector: http.StatusConflict, errors.New("disk"): 500} {
		l.config.Connectors = unknownConnectors{err}
		l.mount()
		if got := l.upload(l.batch(1, note("a", ""))); got.status != want {
			t.Errorf("%v: %d %s", err, got.status, got.body)
		}
		if got := l.post("/enroll", "", wire.Enrollment{Code: l.code("x", "")}); got.status != 500 {
			t.Errorf("%v: %d %s", err, got.status, got.body)
		}
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	r := httptest.NewRequestWithContext(gone, http.MethodGet, wire.Root+l.own("/state"), strings.NewReader(""))
	r.Header.Set(wire.ProtocolHeader, wire.ProtocolVersion)
	r.Header.Set("Authorization", "Bearer "+l.DeviceToken)
	w := httptest.NewRecorder()
	l.handler.ServeHTTP(w, r)
	if w.Body.Len() > 0 {
		t.Errorf("a client that is gone is answered %s", w.Body)
	}
}
