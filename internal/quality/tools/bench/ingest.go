package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/pdpp-go/pdpp/internal/collect/catalog"
	"github.com/pdpp-go/pdpp/internal/device/wire"
	"github.com/pdpp-go/pdpp/internal/deviceapi"
	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite"
	web "github.com/pdpp-go/pdpp/internal/web/server"
	"github.com/pdpp-go/pdpp/manifest"
)

// Sizes of the measurement of uploads.
const (
	uploadRecords = 500 // of 2 kB in a batch
	uploadBatches = 40
	manyDevices   = 50
)

// measureIngest measures how the server processes the batches of devices. It compares uploads with
// and without full text to the same records written without HTTP. It also measures the cost of
// counts and indexes, and fifty devices at once.
func measureIngest(ctx context.Context, c config, dir string, r *report) error {
	rates := map[bool][]float64{}
	for _, search := range []bool{false, true} {
		name := "device uploads, without full text"
		if search {
			name = "device uploads, with full text"
		}
		var ours, direct []float64
		for round := range c.Rounds {
			up, commit, err := ingestOnce(ctx, filepath.Join(dir, fmt.Sprint("ingest-", search, "-", round)), search)
			if err != nil {
				return err
			}
			ours, direct = append(ours, up), append(direct, commit)
		}
		r.compare(name+" against the bare commit (MB per CPU-s)", ours, direct, 0.25)
		r.tell(figure{Name: name, Value: median(ours), Unit: "MB per CPU-s", AtLeast: 20})
		rates[search] = ours
		plain, indexed, err := measureIndexed(ctx, c, dir, search)
		if err != nil {
			return err
		}
		want := 0.
		if search {
			want = 0.8 // as streams of text are
		}
		r.compare(name+", counted by day and indexed by time and three fields, against neither (MB per CPU-s)", indexed,
			plain, want)
	}
	r.compare("device uploads, with full text against without (MB per CPU-s)", rates[true], rates[false], 0)
	return fiftyDevices(ctx, filepath.Join(dir, "ingest-many"), r)
}

// uploads is a server of devices in this process.
type uploads struct {
	store    store.Store
	server   *httptest.Server
	manifest *manifest.Manifest
}

func newUploads(ctx context.Context, path string, search bool) (*uploads, error) {
	st, err := sqlite.Open(ctx, path, sqlite.Options{})
	if err != nil {
		return nil, err
	}
	query := ""
	if search {
		query = `,"search":{"lexical_fields":["text"]}`
	}
	m, err := manifest.Parse([]byte(`{"protocol_version":"0.1.0","connector_id":"https://registry.example/diary",
		"version":"1.0.0","display_name":"Diary",
		"runtime_requirements":{"bindings":{"filesystem":{"required":true}}},
		"streams":[{"name":"notes","semantics":"mutable_state","checkpoint":"slice","primary_key":"id",
		"consent_time_field":"at","schema":{"type":"object","required":["id"],"properties":{
			"id":{"type":"string"},"text":{"type":"string"},"author":{"type":"string"},"size":{"type":"integer"},
			"at":{"type":"string","format":"date-time"}}},
			"query":{"filter":["author"],"range_filters":{"size":["gte"],"at":["gte"]}` + query + `}}]}`))
	if err != nil {
		return nil, err
	}
	u := &uploads{store: st, manifest: m}
	routes := deviceapi.Routes(deviceapi.Config{Store: st,
		Connectors: catalog.Fixed(catalog.Connector{Name: "diary", Builtin: true, Manifest: m})})
	u.server = httptest.NewServer(web.New(web.Config{OwnLimits: deviceapi.OwnLimits, Mount: func(mux *http.ServeMux) {
		for _, route := range routes {
			mux.Handle(route.Pattern, route.Handle)
		}
	}}))
	return u, nil
}

func (u *uploads) close() {
	u.server.Close()
	u.store.Close()
}

// device is one that is enrolled.
type uploadingDevice struct {
	store.DeviceSource
	token string
}

func (u *uploads) enrol(ctx context.Context, name string) (uploadingDevice, error) {
	d := uploadingDevice{token: wire.TokenPrefix + (name + strings.Repeat("x", 43))[:43]}
	code, token, now := sha256.Sum256([]byte(name)), sha256.Sum256([]byte(d.token)), time.Now()
	err := u.store.CreateDeviceCode(ctx, store.DeviceCode{ID: "dcode_" + name, Hash: code[:], ConnectorID: "diary",
		LocalBinding: name, Status: store.CodePending, CreatedAt: now, ExpiresAt: now.Add(time.Hour)})
	if err != nil {
		return d, err
	}
	done, err := u.store.EnrolDevice(ctx, store.Enrolment{CodeHash: code[:], DeviceID: "dexp_" + name, Label: name,
		SourceID: "dsrc_" + name, CredentialID: "dcred_" + name,
		TokenHash: token[:], ConnectionName: name}, now)
	d.DeviceSource = done.Source
	return d, err
}

func benchNotes(batch int) []slice.Record {
	text := strings.Repeat("the quick brown fox writes down what happened today and goes on ", 30)
	records := make([]slice.Record, uploadRecords)
	for i := range records {
		key := fmt.Sprintf("n%06d-%04d", batch, i)
		records[i] = slice.Record{Stream: "notes", Key: key, Data: fmt.Appendf(nil, `{"id":%q,"text":"%s%d"}`, key, text, i),
			EmittedAt: "2026-03-01T08:00:00Z"}
	}
	return records
}

func (u *uploads) send(ctx context.Context, d uploadingDevice, body []byte) (status int, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, u.server.URL+wire.Root+"/"+d.DeviceID+"/ingest-batches",
		bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer "+d.token)
	r.Header.Set(wire.ProtocolHeader, wire.ProtocolVersion)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, err
	}
	defer answer.Body.Close()
	_, err = io.Copy(io.Discard, answer.Body)
	return answer.StatusCode, err
}

func cpuSeconds() float64 {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u) // it does not fail for this process
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}

// ingestOnce returns megabytes per second of processor time: for uploads, and for slices that are
// committed directly.
func ingestOnce(ctx context.Context, path string, search bool) (uploaded, committed float64, err error) {
	u, err := newUploads(ctx, path+".db", search)
	if err != nil {
		return 0, 0, err
	}
	defer u.close()
	d, err := u.enrol(ctx, "one")
	if err != nil {
		return 0, 0, err
	}
	bodies, size := make([][]byte, uploadBatches), 0
	for n := range bodies {
		if bodies[n], err = d.bodyOf(n, benchNotes(n)); err != nil {
			return 0, 0, err
		}
		size += len(bodies[n])
	}
	before := cpuSeconds()
	for _, body := range bodies {
		if status, err := u.send(ctx, d, body); err != nil || status != http.StatusCreated {
			return 0, 0, fmt.Errorf("upload: %d, %w", status, err)
		}
	}
	uploaded = float64(size) / 1e6 / (cpuSeconds() - before)
	spec := []store.StreamSpec{{Name: "notes"}}
	if search {
		spec[0].SearchFields = []string{"text"}
	}
	now := time.Now()
	if err := u.store.CreateConnection(ctx,
		store.Connection{ID: "bare", ConnectorID: "diary", Status: store.ConnectionActive, CreatedAt: now,
			UpdatedAt: now}); err != nil {
		return 0, 0, err
	}
	l, err := u.store.StartRun(ctx, store.RunStart{RunID: "bare", ConnectionID: "bare", ConnectorID: "diary",
		Trigger: store.TriggerManual, Holder: "bench", TTL: time.Hour, Streams: spec}, now)
	if err != nil {
		return 0, 0, err
	}
	parts := make([]slice.Slice, uploadBatches)
	for n := range parts {
		parts[n].Records = benchNotes(n)
	}
	before = cpuSeconds()
	for _, s := range parts {
		if _, err := u.store.CommitSlice(ctx, l, s, now); err != nil {
			return 0, 0, err
		}
	}
	return uploaded, float64(size) / 1e6 / (cpuSeconds() - before), nil
}

// fiftyDevices lets many devices send a megabyte each, twice within twenty seconds: six
// times what a megabyte a minute of each would be.
func fiftyDevices(ctx context.Context, path string, r *report) error {
	u, err := newUploads(ctx, path+".db", true)
	if err != nil {
		return err
	}
	defer u.close()
	var mu sync.Mutex
	var wg sync.WaitGroup
	var took []time.Duration
	var refused, broken int
	start := time.Now()
	for n := range manyDevices {
		d, err := u.enrol(ctx, fmt.Sprint("d", n))
		if err != nil {
			return err
		}
		wg.Go(func() {
			for batch := range 2 {
				body, err := d.bodyOf(batch, benchNotes(batch))
				if err != nil {
					return
				}
				time.Sleep(time.Until(start.Add(time.Duration(batch*manyDevices+n) * 200 * time.Millisecond)))
				began := time.Now()
				status, err := u.send(ctx, d, body)
				mu.Lock()
				took = append(took, time.Since(began))
				if err != nil || status >= 500 {
					broken++
				} else if status != http.StatusCreated {
					refused++
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	slices.Sort(took)
	var peak syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &peak) // it does not fail for this process
	r.tell(figure{Name: "50 devices at six megabytes a minute each: p99 of a batch",
		Value: took[len(took)*99/100].Seconds(), Unit: "s", Below: 1,
		Note: fmt.Sprintf("p50 %.2f s, %d batches, %d told to wait, %d answers of 5xx; peak RSS %d MiB with the devices",
			took[len(took)/2].Seconds(), len(took), refused, broken, peak.Maxrss>>10)})
	return nil
}
