package service

import (
	"context"
	"strings"

	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// receiptOf puts a deletion into the words that every surface shows.
func (s *Service) receiptOf(ctx context.Context, d store.Deletion, state string) (api.Deletion, error) {
	out := api.Deletion{ID: d.ID, Scope: string(d.Kind), ConnectionID: d.ConnectionID, Stream: d.Stream,
		Since: boundWords(d.Since), Until: boundWords(d.Until), State: state,
		AskedAt: d.AskedAt, PurgeAfter: d.PurgeAfter, EndedAt: d.EndedAt, Records: d.Records, Tombstones: d.Tombstones,
		Versions: d.Versions, Bytes: d.Bytes,
		Files: d.Files, FileBytes: d.FileBytes, Purged: d.Purged, TurnedAway: d.TurnedAway, KeepsOut: d.BlocksReturn,
		Trouble: d.Trouble, Notes: []string{}}
	name := ""
	if d.ConnectionID != "" {
		conn, err := s.find.Connection(ctx, d.ConnectionID)
		if err != nil {
			return out, err
		}
		name = conn.DisplayName
		out.ConnectionName = name
	}
	now := s.Now()
	out.Undoable = (state == string(store.DeletionHiding) || state == string(store.DeletionHidden)) &&
		now.Before(d.PurgeAfter)
	out.What = deletionSubject(&out, name)
	out.Happened, out.Next = deletionProgress(&out, d.PurgeAfter.After(d.AskedAt))
	out.Notes = deletionNotes(&out)
	return out, nil
}

// boundWords shortens a time at midnight to its date.
func boundWords(stored string) string {
	return strings.TrimSuffix(stored, "T00:00:00.000000Z")
}

func deletionSubject(d *api.Deletion, name string) string {
	switch store.DeletionKind(d.Scope) {
	case store.DeleteEverything:
		return "Everything"
	case store.DeleteConnection:
		return name
	case store.DeleteStream:
		return d.Stream + " of " + name
	case store.DeleteRecord:
		return "One record of " + d.Stream + " of " + name
	}
	of := "all connections"
	if name != "" {
		of = name
	}
	if d.Stream != "" {
		of = d.Stream + " of " + of
	}
	switch {
	case d.Since == "":
		return of + " before " + d.Until
	case d.Until == "":
		return of + " from " + d.Since + " on"
	}
	return of + " from " + d.Since + " until " + d.Until
}

// deletionContents counts what a deletion is about.
func deletionContents(d *api.Deletion) string {
	parts := []string{text.Count(d.Records, "record", "records")}
	if d.Tombstones > 0 {
		parts = append(parts, text.Count(d.Tombstones, "record that its source had deleted",
			"records that their source had deleted"))
	}
	if d.Versions > 0 {
		parts = append(parts, text.Count(d.Versions, "earlier version", "earlier versions"))
	}
	if d.Files > 0 {
		parts = append(parts, text.Count(d.Files, "file", "files")+" ("+text.Bytes(d.FileBytes)+")")
	}
	if len(parts) == 1 {
		return parts[0]
	}
	return strings.Join(parts[:len(parts)-1], ", ") + " and " + parts[len(parts)-1]
}

const deletionDateFormat = "2 January 2006 15:04 UTC"

func deletionProgress(d *api.Deletion, undo bool) (happened, next string) {
	until := d.PurgeAfter.UTC().Format(deletionDateFormat)
	switch store.DeletionState(d.State) {
	case statePreview:
		if undo {
			return "This would delete " + deletionContents(d) + ".", "You could undo it until " + until + "."
		}
		return "This would delete " + deletionContents(d) + " for good, without a way back.", ""
	case store.DeletionHiding:
		return "Being deleted. Hidden so far: " + deletionContents(d) + ".", "It continues automatically."
	case store.DeletionHidden:
		return "Deleted " + deletionContents(d) + ". Lists, searches, exports and apps no longer show it.",
			"It is removed for good on " + until + ". You can undo it until then."
	case store.DeletionUndoing:
		return "Being restored: " + deletionContents(d) + ".", "It continues automatically."
	case store.DeletionUndone:
		return "Restored " + deletionContents(d) + ".", ""
	case store.DeletionPurging:
		return "Being removed for good: " + deletionContents(d) + ".", "It continues automatically."
	case store.DeletionCompacting:
		if d.Trouble != "" {
			return "Deleted for good: " + deletionContents(d) + ". Its disk space could not be freed yet.",
				"It is tried again automatically."
		}
		return "Deleted for good: " + deletionContents(d) + ". Its disk space is being freed.", "It continues automatically."
	}
	return "Deleted for good: " + deletionContents(d) + ".", ""
}

// deletionNotes are what else an owner has to know.
func deletionNotes(d *api.Deletion) (notes []string) {
	notes = []string{}
	if d.State == string(store.DeletionUndone) || d.State == string(store.DeletionUndoing) {
		if d.Scope == string(store.DeleteConnection) || d.Scope == string(store.DeleteEverything) {
			notes = append(notes, "The connection stays ended: its credential was deleted. To collect again, connect the "+
				"source again.")
		}
		if d.TurnedAway > 0 {
			notes = append(notes, "The next run reads from the beginning, because "+text.Count(d.TurnedAway, "record",
				"records")+" came meanwhile without being stored.")
		}
		return notes
	}
	switch store.DeletionKind(d.Scope) {
	case store.DeleteConnection:
		notes = append(notes, "The connection ends: it collects no more, and its credential is deleted. Imported files go "+
			"too. A device drops what it has queued for it.")
	case store.DeleteEverything:
		notes = append(notes, "All connections end and their credentials are deleted. Imported files and saved searches go "+
			"too. Your sign-in, grants and settings stay.")
	case store.DeleteStream:
		notes = append(notes, "It is not collected any more, until you choose to collect it again.")
	case store.DeleteRange:
		notes = append(notes, "Runs do not bring these records back: the range is remembered. Records without a time are "+
			"not in a range.")
	case store.DeleteRecord:
		notes = append(notes, "Runs do not bring it back: a hash of its key is remembered, and nothing else of it.")
	}
	until := "it is removed for good"
	if d.EndedAt != nil {
		until = d.EndedAt.UTC().Format(deletionDateFormat)
	}
	return append(notes, "Backups made before "+until+" hold it: PDPP cannot reach them. "+
		"Delete those files, or keep them on purpose.",
		"Apps that follow these records learn of the deletion with their next read. What they copied is theirs.")
}
