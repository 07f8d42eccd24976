package storetest

import (
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// testConfirmations checks that a confirmation is stored, replaced by a newer one, and withdrawn for all.
func testConfirmations(t *testing.T, s store.Store) {
	ctx := t.Context()
	_, err := s.ConfirmedConnector(ctx, "weather")
	fails(t, err, store.ErrNotFound)
	c := store.Confirmation{ConnectorID: "weather", Executable: "ab12", Variables: []string{"WEATHER_KEY", "WEATHER_DIR"},
		Paths: []string{"WEATHER_DIR"}, ConfirmedAt: Now}
	ok(t, s.ConfirmConnector(ctx, c))
	ok(t, s.ConfirmConnector(ctx, store.Confirmation{ConnectorID: "tides", Executable: "ff", Variables: []string{},
		Paths: []string{}, ConfirmedAt: Now}))
	got, err := s.ConfirmedConnector(ctx, "weather")
	ok(t, err)
	same(t, got, c)
	c.Executable, c.Variables, c.Paths, c.ConfirmedAt = "cd34", []string{}, []string{}, Now.Add(time.Hour)
	ok(t, s.ConfirmConnector(ctx, c))
	got, err = s.ConfirmedConnector(ctx, "weather")
	ok(t, err)
	same(t, got, c)
	ok(t, s.DropConfirmations(ctx))
	for _, name := range []string{"weather", "tides"} {
		_, err = s.ConfirmedConnector(ctx, name)
		fails(t, err, store.ErrNotFound)
	}
}
