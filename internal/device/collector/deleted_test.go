package collector

import (
	"bytes"
	"errors"
	"net/http"
	"os"
	"testing"

	"github.com/pdpp-go/pdpp/internal/device/wire"
)

// A source that the owner deleted leaves nothing on the device, neither waiting uploads nor a byte of them. Any other
// refusal keeps what waits.
func TestDeletedSourceIsDropped(t *testing.T) {
	b := newBed(t)
	b.write(t, days(1, 250)...)
	b.badly(1000, answer(500, ""))
	if r := b.run(t); r.Cause != CausePending || r.Outbox.Pending == 0 {
		t.Fatalf("nothing waits: %+v", r)
	}
	files := func() (all []byte) {
		queue := b.collector(t).Profile.Queue
		for _, ext := range []string{"", "-wal", ledgerExt} {
			body, err := os.ReadFile(queue + ext)
			if err != nil && !errors.Is(err, os.ErrNotExist) {
				t.Fatal(err)
			}
			all = append(all, body...)
		}
		return all
	}
	if !bytes.Contains(files(), []byte(source)) {
		t.Fatal("the queue is not read")
	}
	b.mu.Lock()
	b.intercept = func(_ int, _ string, done bool, w http.ResponseWriter) bool {
		if !done {
			refusal(http.StatusForbidden, wire.CodeSourceDeleted)(w)
		}
		return !done
	}
	b.mu.Unlock()
	for range 2 {
		if r := b.run(t); r.Cause != CauseSourceDeleted || r.Outbox.Total != 0 || r.Run != nil {
			t.Fatalf("after the owner deleted the connection: %+v", r)
		}
	}
	if left := files(); bytes.Contains(left, []byte("day0")) || bytes.Contains(left, []byte(source)) {
		t.Error("what waited is still in the file of the queue")
	}
}
