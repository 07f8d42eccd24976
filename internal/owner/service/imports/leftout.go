package imports

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/go-json-experiment/json"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/service/faults"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// accountStream is the stream in which connectors report what they found in files. Its rows list content that the
// source does not collect.
const accountStream = "coverage_diagnostics"

// mostAccounts is how many rows are read of one connection.
const mostAccounts = 5000

// Leftovers is the content of a connection's files that its source does not collect.
type Leftovers struct {
	All    []api.LeftOut
	ByFile map[string][]api.LeftOut // by the path below the import folder
}

// LeftOutOf returns the content of a connection's files that was not collected. Files with an undone import do not
// count.
func (s *FileImports) LeftOutOf(ctx context.Context, id string) (Leftovers, error) {
	out := Leftovers{ByFile: map[string][]api.LeftOut{}}
	rows, err := s.store.ListRecords(ctx,
		store.RecordQuery{AccessFilter: store.AccessFilter{ConnectionID: id, Stream: accountStream},
			Limit: mostAccounts})
	if err != nil {
		return out, faults.OwnerError(err, "read what was left out")
	}
	undone := map[string]bool{}
	if len(rows) > 0 {
		receipts, err := s.store.Imports(ctx, id)
		if err != nil {
			return out, faults.OwnerError(err, "list the imports")
		}
		for _, i := range slices.Backward(receipts) { // the newest receipt of a path counts
			undone[i.Path] = i.UndoneAt != nil
		}
	}
	for i := range rows {
		var row struct {
			File         string           `json:"file"`
			Files        []string         `json:"files"`
			LeftOut      map[string]int64 `json:"left_out"`
			Unrecognized map[string]int64 `json:"unrecognized"`
		}
		if rows[i].Deleted || len(rows[i].Data) == 0 || json.Unmarshal(rows[i].Data, &row) != nil || undone[row.File] {
			continue
		}
		var kinds []api.LeftOut
		for _, kind := range slices.Sorted(maps.Keys(row.LeftOut)) {
			kinds = append(kinds, api.LeftOut{Kind: kind, Count: row.LeftOut[kind], Known: true})
		}
		for _, kind := range slices.Sorted(maps.Keys(row.Unrecognized)) {
			kinds = append(kinds, api.LeftOut{Kind: kind, Count: row.Unrecognized[kind]})
		}
		for _, kind := range kinds {
			out.All = addLeftOutCount(out.All, kind)
			if row.File != "" {
				out.ByFile[row.File] = addLeftOutCount(out.ByFile[row.File], kind)
			}
			for _, file := range row.Files {
				out.ByFile[file] = addLeftOutCount(out.ByFile[file], api.LeftOut{Kind: kind.Kind, Count: 1, Known: kind.Known})
			}
		}
	}
	return out, nil
}

// addLeftOutCount adds a count to a sorted list: known kinds first, then by name.
func addLeftOutCount(list []api.LeftOut, k api.LeftOut) []api.LeftOut {
	at, found := slices.BinarySearchFunc(list, k, func(a, b api.LeftOut) int {
		if a.Known != b.Known {
			if a.Known {
				return -1
			}
			return 1
		}
		return cmp.Compare(a.Kind, b.Kind)
	})
	if found {
		list[at].Count += k.Count
		return list
	}
	return slices.Insert(list, at, k)
}
