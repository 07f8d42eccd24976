// Package diskuse defines what an owner sees of the space that their data takes on the server.
package diskuse

import (
	"time"

	"github.com/pdpp-go/pdpp/internal/ops/text"
)

// RecordsStay is what an owner may expect to be able to free and cannot.
const RecordsStay = "Records and their earlier versions stay, also when a connection is ended."

// Storage is what takes how much room on the server. What is nil is not measured, or not counted
// yet. Nothing is read through for it: it costs the same however much is kept.
type Storage struct {
	ObservedAt time.Time `json:"observed_at"`
	// What all sources take together: the data of their records, files once each, files as
	// they were imported, and the profiles of browsers.
	RecordBytes  *int64 `json:"record_bytes"`
	FileBytes    int64  `json:"file_bytes"`    // files of records, and files that no record has any more
	ImportBytes  int64  `json:"import_bytes"`  // imported files
	ProfileBytes int64  `json:"profile_bytes"` // sealed browser profiles
	// SharedFileBytes are what is saved by storing a file once that several streams have.
	SharedFileBytes int64 `json:"shared_file_bytes"`
	// DatabaseBytes are the whole database, with the data of records, of which SearchBytes are for
	// searching and HistoryBytes are earlier versions of records.
	DatabaseBytes *int64 `json:"database_bytes"`
	SearchBytes   *int64 `json:"search_bytes"`  // the search index, a part of the database
	HistoryBytes  *int64 `json:"history_bytes"` // earlier versions of records, a part of the database
	// DiskFreeBytes are left, of DiskBytes, where the server keeps its files.
	DiskFreeBytes *int64 `json:"disk_free_bytes"`
	DiskBytes     *int64 `json:"disk_bytes"`
	// Sources are the connections, the largest first.
	Sources []StorageSource `json:"sources"`
	// Freeable is what can be had back, and how.
	Freeable []Freeable `json:"freeable"`
	// Upkeep lists data derived from stored records that is still being built, or that was abandoned.
	Upkeep []UpkeepNote `json:"upkeep"`
}

// UpkeepNote is something that is not made yet: how far it is and what that means, and what comes next.
type UpkeepNote struct {
	Kind string `json:"kind"` // counting, search or indexes
	What string `json:"what"`
	Next string `json:"next_step"`
}

// StorageSource is what a connection takes. Its files may be stored for others too.
type StorageSource struct {
	ConnectionID string `json:"connection_id"`
	Name         string `json:"connection_name"`
	ConnectorID  string `json:"connector_id"`
	Status       string `json:"status"`
	// Bytes are those of all that follows, without what is not counted yet.
	Bytes        int64  `json:"bytes"`
	RecordBytes  *int64 `json:"record_bytes"`
	FileBytes    int64  `json:"file_bytes"`
	ImportBytes  int64  `json:"import_bytes"`
	ProfileBytes int64  `json:"profile_bytes"`
	// Mostly describes what uses most of the space.
	Mostly  string          `json:"mostly"`
	Streams []StorageStream `json:"streams"` // the largest first
}

// StorageStream is what a stream takes.
type StorageStream struct {
	Name        string `json:"name"`
	Label       string `json:"label"`
	Records     int64  `json:"record_count"`
	RecordBytes *int64 `json:"record_bytes"`
	Files       int64  `json:"file_count"` // different files of its records
	FileBytes   int64  `json:"file_bytes"`
}

// Freeable is room that can be had back: what takes it, and how to get it.
type Freeable struct {
	Kind  string `json:"kind"` // unreferenced_files, imports, profiles, unused
	Bytes int64  `json:"bytes"`
	What  string `json:"what"`
	How   string `json:"how"`
}

// Summary returns one line with how much is stored and how much space is left.
func (s *Storage) Summary() string {
	kept := s.FileBytes + s.ImportBytes + s.ProfileBytes
	line := text.Bytes(kept)
	switch {
	case s.DatabaseBytes != nil:
		line = text.Bytes(kept+*s.DatabaseBytes) + " are taken"
	case s.RecordBytes != nil:
		line = text.Bytes(kept+*s.RecordBytes) + " are taken, and what the database needs beside records"
	default:
		line += " of files are taken, and the database"
	}
	if s.DiskFreeBytes != nil {
		return line + "; " + text.Bytes(*s.DiskFreeBytes) + " are free on the disk of the server."
	}
	return line + "; how much is free is not known."
}

// Part is one thing that takes room, with its size in words.
type Part struct{ Name, Size string }

// Parts returns the space that all sources use together, and that of the database with its parts.
func (s *Storage) Parts() []Part {
	size := func(n *int64, otherwise string) string {
		if n == nil {
			return otherwise
		}
		return text.Bytes(*n)
	}
	parts := []Part{
		{"Records", size(s.RecordBytes, "still counting")}, {"Files", text.Bytes(s.FileBytes)},
		{"Imported files", text.Bytes(s.ImportBytes)},
		{"Browser profiles", text.Bytes(s.ProfileBytes)}, {"Search index", size(s.SearchBytes, "not measured")},
	}
	if s.HistoryBytes != nil {
		parts = append(parts, Part{"Earlier versions", text.Bytes(*s.HistoryBytes)})
	}
	return append(parts, Part{"Whole database", size(s.DatabaseBytes, "not measured")})
}
