package deviceapi_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/device/wire"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// A device learns that the owner deleted its connection, and while the owner can undo it as well; of one that only
// ended it learns no more than that.
func TestDeviceLearnsOfDeletion(t *testing.T) {
	l := newLaptop(t)
	state := func() answer { return l.send(http.MethodGet, l.own("/state"), l.DeviceToken, nil) }
	l.wants(state(), http.StatusOK, "")
	conn, err := l.store.Connection(t.Context(), l.ConnectorInstanceID)
	if err != nil {
		t.Fatal(err)
	}
	conn.Status = store.ConnectionRevoked
	if err := l.store.UpdateConnection(t.Context(), conn); err != nil {
		t.Fatal(err)
	}
	l.wants(state(), http.StatusForbidden, wire.CodeConnectionInactive)
	if err := l.store.RequestDeletion(t.Context(),
		store.Deletion{ID: "d", DeletionScope: store.DeletionScope{Kind: store.DeleteConnection, ConnectionID: conn.ID},
			AskedAt: noon, PurgeAfter: noon.Add(time.Hour)}); err != nil {
		t.Fatal(err)
	}
	l.wants(state(), http.StatusForbidden, wire.CodeSourceDeleted)
	if err := l.store.UndoDeletion(t.Context(), "d", noon); err != nil {
		t.Fatal(err)
	}
	l.wants(state(), http.StatusForbidden, wire.CodeConnectionInactive)
}
