package settings

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/service/faults"
	"github.com/pdpp-go/pdpp/internal/storage/audit"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

const (
	usualEntries = 100
	mostEntries  = 1000
)

// Audit lists the recorded actions and their actors, the newest first.
func (a *Settings) Audit(ctx context.Context, q api.AuditQuery) (api.AuditPage, error) {
	if q.Limit <= 0 {
		q.Limit = usualEntries
	}
	limit := min(q.Limit, mostEntries)
	asked := store.AuditQuery{Since: q.Since, Before: q.Before, Limit: limit + 1}
	if q.Kind != "" {
		kinds, ok := audit.KindsByName(q.Kind)
		if !ok {
			return api.AuditPage{}, api.Invalid("kind", "There is no such kind of entry.",
				"Use one of: "+strings.Join(groupNames(), ", ")+", or the kind of an entry.")
		}
		for _, k := range kinds {
			asked.Kinds = append(asked.Kinds, string(k))
		}
	}
	entries, err := a.Store.AuditEntries(ctx, asked)
	if err != nil {
		return api.AuditPage{}, faults.OwnerError(err, "read the audit trail")
	}
	page := api.AuditPage{Entries: []api.AuditEntry{}}
	if len(entries) > limit {
		entries = entries[:limit]
		page.Next = entries[limit-1].ID
	}
	if page.KeptDays, err = audit.RetentionDays(ctx, a.Store); err != nil {
		return api.AuditPage{}, faults.OwnerError(err, "read how long the audit trail is kept")
	}
	connections, err := a.Store.ListConnections(ctx)
	if err != nil {
		return api.AuditPage{}, faults.OwnerError(err, "list the connections")
	}
	names := map[string]string{}
	for _, c := range connections {
		names[c.ID] = c.DisplayName
	}
	for _, e := range entries {
		page.Entries = append(page.Entries, showEntry(e, names))
	}
	return page, nil
}

func groupNames() (names []string) {
	for _, g := range audit.Groups {
		names = append(names, g.Name)
	}
	return names
}

func showEntry(e store.AuditEntry, names map[string]string) api.AuditEntry {
	return api.AuditEntry{
		ID:       e.ID,
		At:       e.At,
		LastAt:   e.LastAt,
		Kind:     e.Kind,
		Group:    audit.GroupOfKind(audit.ActionKind(e.Kind)),
		Outcome:  e.Outcome,
		Reason:   e.Reason,
		Sentence: auditSentence(e, names[e.Object]),
		Actor: api.AuditActor{Kind: e.Actor, ID: e.ActorID, Name: e.ActorName,
			Address: e.Address},
		Object:     e.Object,
		ObjectName: e.ObjectName,
		Times:      e.Times,
		Records:    e.Records,
	}
}

// SetAuditRetention changes for how many days entries are kept.
func (a *Settings) SetAuditRetention(ctx context.Context, days int) error {
	err := audit.SetRetentionDays(ctx, a.Store, days, a.Now())
	if errors.Is(err, audit.ErrRetentionDays) {
		return api.Invalid("days", "The audit trail cannot be kept for that long or that short.",
			fmt.Sprintf("Use %d to %d days.", audit.MinRetentionDays, audit.MaxRetentionDays))
	}
	return faults.OwnerError(err, "keep how long the audit trail is kept")
}
