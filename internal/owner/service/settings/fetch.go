package settings

import (
	"context"
	"slices"

	"github.com/pdpp-go/pdpp/internal/owner/service/faults"
	"github.com/pdpp-go/pdpp/internal/share/grants"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/protocol"
)

// fetchGranted requests runs for the records that a grant names and that are not stored. Each run fetches only those
// records and ends with the grant. Connections that cannot run are skipped.
func (a *Settings) fetchGranted(ctx context.Context, grantID string, scope grants.GrantedStreams) error {
	wanted := map[string][]protocol.StreamScope{}
	for _, s := range scope {
		if len(s.Resources) == 0 || s.ResourceField != "" { // of values, there is no telling which ones lack records
			continue
		}
		kept, err := a.Store.ListRecords(ctx, store.RecordQuery{
			AccessFilter: store.AccessFilter{ConnectionID: s.ConnectionID, Stream: s.Stream, Keys: s.Resources},
			Limit:        len(s.Resources),
		})
		if err != nil {
			return faults.OwnerError(err, "look for the granted records")
		}
		missing := slices.DeleteFunc(slices.Clone(s.Resources), func(key string) bool {
			return slices.ContainsFunc(kept, func(r store.StoredRecord) bool { return r.Key == key })
		})
		if len(missing) > 0 {
			wanted[s.ConnectionID] = append(wanted[s.ConnectionID], protocol.StreamScope{Name: s.Stream, Resources: missing})
		}
	}
	for id, streams := range wanted {
		conn, err := a.Store.Connection(ctx, id)
		if err != nil {
			return faults.OwnerError(err, "find the granted connection")
		}
		if conn.Status != store.ConnectionActive || conn.SourceKind == store.SourceLocalDevice {
			continue
		}
		r := store.RunRequest{ConnectionID: id, Trigger: store.TriggerManual, Scope: streams, GrantID: grantID,
			RequestedAt: a.Now()}
		if _, err := a.Store.RequestRun(ctx, r); err != nil {
			return faults.OwnerError(err, "ask for the granted records")
		}
	}
	return nil
}
