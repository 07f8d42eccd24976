package service

import (
	"cmp"
	"context"
	"slices"

	"github.com/pdpp-go/pdpp/internal/blob"
	"github.com/pdpp-go/pdpp/internal/ops/disk"
	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/owner/diskuse"
	"github.com/pdpp-go/pdpp/internal/owner/service/declaration"
	"github.com/pdpp-go/pdpp/internal/owner/service/faults"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// Storage returns how much disk space is used. The disk is that of the server's home folder, which does not include a
// database on another machine.
func (s *Service) Storage(ctx context.Context) (diskuse.Storage, error) {
	room, err := s.Store.DiskUsage(ctx)
	if err != nil {
		return diskuse.Storage{}, faults.OwnerError(err, "read how much room things take")
	}
	connections, err := s.Store.ListConnections(ctx)
	if err != nil {
		return diskuse.Storage{}, faults.OwnerError(err, "list the connections")
	}
	out := diskuse.Storage{ObservedAt: s.Now(), RecordBytes: new(int64), DatabaseBytes: room.Database,
		SearchBytes: room.Search, HistoryBytes: room.History,
		SharedFileBytes: room.SharedBytes, FileBytes: room.UnreferencedBytes - room.SharedBytes,
		Sources: []diskuse.StorageSource{}}
	if free, total, err := disk.Space(s.Home); err == nil {
		out.DiskFreeBytes, out.DiskBytes = new(int64(free)), new(int64(total))
	}
	declared := s.find.ManifestLibrary()
	for _, conn := range connections {
		m, err := declared.ManifestOf(ctx, conn.ConnectorID)
		if err != nil {
			return diskuse.Storage{}, err
		}
		src := diskuse.StorageSource{ConnectionID: conn.ID, Name: conn.DisplayName, ConnectorID: conn.ConnectorID,
			Status:      string(conn.Status),
			RecordBytes: new(int64), ImportBytes: room.Imports[conn.ID], ProfileBytes: room.Profiles[conn.ID],
			Streams: []diskuse.StorageStream{}}
		for _, st := range room.Streams {
			if st.ConnectionID == conn.ID {
				label := declaration.StreamLabel(declaration.DescribeStream(m, st.Stream), st.Stream)
				src.Streams = append(src.Streams, diskuse.StorageStream{Name: st.Stream, Label: label, Records: st.Records,
					RecordBytes: st.Bytes, Files: st.Files, FileBytes: st.FileBytes})
			}
		}
		addStorage(&out, &src)
	}
	slices.SortStableFunc(out.Sources, func(a, b diskuse.StorageSource) int { return cmp.Compare(b.Bytes, a.Bytes) })
	out.Freeable = freeableStorage(&out, room)
	upkeep, err := s.Store.Upkeep(ctx, store.IndexAbove)
	if err != nil {
		return diskuse.Storage{}, faults.OwnerError(err, "read what is still being made")
	}
	out.Upkeep = []diskuse.UpkeepNote{}
	for _, n := range upkeep.Notes() {
		out.Upkeep = append(out.Upkeep, diskuse.UpkeepNote{Kind: n.Kind, What: n.Text, Next: n.Next})
	}
	return out, nil
}

// addStorage sums a source up. One that was ended is left out when nothing of it is kept.
func addStorage(out *diskuse.Storage, src *diskuse.StorageSource) {
	counted := true
	for _, st := range src.Streams {
		src.FileBytes += st.FileBytes
		if st.RecordBytes == nil {
			counted = false
		} else {
			*src.RecordBytes += *st.RecordBytes
		}
	}
	src.Bytes = *src.RecordBytes + src.FileBytes + src.ImportBytes + src.ProfileBytes
	if src.Bytes == 0 && counted && src.Status == string(store.ConnectionRevoked) {
		return
	}
	if out.RecordBytes != nil {
		*out.RecordBytes += *src.RecordBytes
	}
	if !counted {
		src.RecordBytes, out.RecordBytes = nil, nil
	}
	out.FileBytes += src.FileBytes
	out.ImportBytes += src.ImportBytes
	out.ProfileBytes += src.ProfileBytes
	slices.SortStableFunc(src.Streams,
		func(a, b diskuse.StorageStream) int { return cmp.Compare(streamBytes(b), streamBytes(a)) })
	src.Mostly = mainStorageUse(src)
	out.Sources = append(out.Sources, *src)
}

func streamBytes(st diskuse.StorageStream) int64 {
	if st.RecordBytes == nil {
		return st.FileBytes
	}
	return *st.RecordBytes + st.FileBytes
}

// mainStorageUse describes what uses most of a source's space.
func mainStorageUse(src *diskuse.StorageSource) string {
	switch {
	case src.Bytes == 0:
		return "Nothing yet"
	case src.ImportBytes*2 > src.Bytes:
		return "Files as you imported them"
	case src.ProfileBytes*2 > src.Bytes:
		return "The profile of its browser"
	case len(src.Streams) == 0:
		return ""
	}
	most := src.Streams[0]
	if most.FileBytes*2 > streamBytes(most) {
		return "Files of " + most.Label
	}
	return most.Label
}

// littleUnused is what an embedded database may have unused without a word about it.
const littleUnused = 1 << 20

// freeableStorage lists the space that can be freed. It never lists records, because records are not deleted to free
// space.
func freeableStorage(s *diskuse.Storage, room store.DiskUsage) []diskuse.Freeable {
	out := []diskuse.Freeable{}
	add := func(kind string, bytes int64, what, how string) {
		out = append(out, diskuse.Freeable{Kind: kind, Bytes: bytes, What: what, How: how})
	}
	if room.Unreferenced > 0 {
		how := "They go by themselves " + text.DurationWords(blob.UnreferencedAge) + " after their last record."
		if room.UnreferencedSince != nil {
			how = "They go by themselves " + text.DurationWords(
				blob.UnreferencedAge,
			) + " after their last record, the first from " +
				room.UnreferencedSince.Add(blob.UnreferencedAge).
					UTC().
					Format("2 January 2006") +
				" on."
		}
		add("unreferenced_files", room.UnreferencedBytes, text.Count(room.Unreferenced, "file", "files")+" without a record",
			how)
	}
	if s.ImportBytes > 0 {
		add("imports", s.ImportBytes, "Files as you imported them",
			"Undo an import on the page of its source. Its records go with it.")
	}
	if s.ProfileBytes > 0 {
		add("profiles", s.ProfileBytes, "Profiles of browsers that are signed in",
			"End the connection. Its records stay, and it can be connected again.")
	}
	if room.Unused != nil && *room.Unused >= littleUnused {
		add("unused", *room.Unused, "Room inside the database that holds nothing",
			"It is filled before the database grows. To give it back to the disk: pdpp backup FILE, then pdpp restore FILE "+
				"--force, and delete the home that was moved aside.")
	}
	return out
}
