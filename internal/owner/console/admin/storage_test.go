package admin

import (
	"strings"
	"testing"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/diskuse"
)

// storageOf returns storage totals with a large source, a small source and one that is not counted
// yet.
func storageOf(name string) diskuse.Storage {
	return diskuse.Storage{
		ObservedAt: now, RecordBytes: nil, FileBytes: 5 << 20, ImportBytes: 3 << 20, ProfileBytes: 2 << 20,
		SharedFileBytes: 1 << 20,
		DatabaseBytes:   new(int64(9 << 20)), SearchBytes: new(int64(1 << 20)), DiskFreeBytes: new(int64(40 << 30)),
		DiskBytes: new(int64(80 << 30)),
		Sources: []diskuse.StorageSource{
			{ConnectionID: "cin_kelp_1", Name: name, Status: "active", Bytes: 8 << 20, RecordBytes: new(int64(3 << 20)),
				FileBytes: 5 << 20, Mostly: "Files of " + name,
				Streams: []diskuse.StorageStream{{Name: "letters", Label: name, Records: 1,
					RecordBytes: new(int64(3 << 20)), Files: 1,
					FileBytes: 5 << 20}}},
			{ConnectionID: "cin_tide_1", Name: "Tide log", Status: "revoked", Bytes: 5 << 20, ImportBytes: 3 << 20,
				ProfileBytes: 2 << 20, Mostly: "Files as you imported them",
				Streams: []diskuse.StorageStream{{Name: "levels", Label: "Levels", Records: 40}}},
		},
		Upkeep: []diskuse.UpkeepNote{{Kind: "counting", What: "Records are still being counted by day: 25 % done.",
			Next: "It continues automatically."}},
		Freeable: []diskuse.Freeable{{Kind: "imports", Bytes: 3 << 20, What: "Files as you imported them",
			How: "Undo an import."}},
	}
}

// The page shows how much each source uses, what is not counted yet and what can be freed. It also
// shows the time of the last backup.
func TestStoragePage(t *testing.T) {
	t.Parallel()
	o := mara()
	o.storage = storageOf("Kelp, maralind")
	o.trail = api.AuditPage{KeptDays: 365, Entries: []api.AuditEntry{
		{ID: 3, Kind: "backup", Outcome: "failed", LastAt: now},
		{ID: 2, Kind: "backup", Outcome: "done", LastAt: now.AddDate(0, 0, -1)},
	}}
	h := world(t, o)
	p := get(t, h, "/settings/storage")
	p.says(t, "19.0 MiB are taken; 40.0 GiB are free on the disk of the server.", "Records still counting",
		"1 record, 3.0 MiB; 1 file, 5.0 MiB", "40 records, still counting",
		"stored once, which saves 1.0 MiB", "ended, records stay", "3.0 MiB Files as you imported them. Undo an import.",
		"The last backup was made yesterday")
	p.by(t, "width", "62.5%") // 5 of 8
	if strings.Contains(p.text(), "Only ") {
		t.Error("the page warns of a full disk")
	}
	o.storage.DiskFreeBytes, o.trail = new(int64(200<<20)), api.AuditPage{KeptDays: 30}
	get(t, h, "/settings/storage").says(t, "Only 200.0 MiB are free.", "The log of the last 30 days has no backup.")
}
