package launch

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/ops/tracing"
	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// A slice that could not be stored is in the trace like one that was.
func TestRefusedSliceIsTraced(t *testing.T) {
	var got bytes.Buffer
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(&got, r.Body) // one delivery at a time, all of them before the shutdown returns
	}))
	defer collector.Close()
	stop, err := tracing.Start(t.Context(), collector.URL, "1.2.3")
	if err != nil {
		t.Fatal(err)
	}
	b := newBed(t)
	refused := &leasedStore{store: b.store, now: time.Now, connectorID: "sample",
		lease: store.Lease{RunID: "run_lost", ConnectionID: connection}}
	if err := refused.CommitSlice(t.Context(), &slice.Slice{}); !errors.Is(err, store.ErrLeaseLost) {
		t.Fatalf("committed without a lease: %v", err)
	}
	if err := stop(context.WithoutCancel(t.Context())); err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(got.Bytes(), []byte("run_lost")) {
		t.Errorf("the trace is %q", got.Bytes())
	}
}
