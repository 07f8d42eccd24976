package service

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/go-json-experiment/json"

	"github.com/pdpp-go/pdpp/internal/keep/store"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/service/faults"
	"github.com/pdpp-go/pdpp/internal/view"
)

// accountStream is where readers of files account for what they found. Its rows name what a file
// holds and its source does not collect.
const accountStream = "coverage_diagnostics"

// mostAccounts bounds the rows that are read of one connection.
const mostAccounts = 5000

// leftovers is what is left out of a connection's files.
type leftovers struct {
	all    []api.LeftOut
	byFile map[string][]api.LeftOut // by the path below the import folder
}

// leftOutOf reads what readers of files left out of a connection. Files with an undone import do
// not count.
func (s *Service) leftOutOf(ctx context.Context, id string) (leftovers, error) {
	out := leftovers{byFile: map[string][]api.LeftOut{}}
	rows, err := s.Store.ListRecords(ctx, store.RecordQuery{Part: store.Part{ConnectionID: id, Stream: accountStream},
		Limit: mostAccounts})
	if err != nil {
		return out, faults.Error(err, "read what was left out")
	}
	undone := map[string]bool{}
	if len(rows) > 0 {
		receipts, err := s.Store.Imports(ctx, id)
		if err != nil {
			return out, faults.Error(err, "list the imports")
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
			out.all = added(out.all, kind)
			if row.File != "" {
				out.byFile[row.File] = added(out.byFile[row.File], kind)
			}
			for _, file := range row.Files {
				out.byFile[file] = added(out.byFile[file], api.LeftOut{Kind: kind.Kind, Count: 1, Known: kind.Known})
			}
		}
	}
	return out, nil
}

// added adds a count to a list that is sorted: known kinds first, each by name.
func added(list []api.LeftOut, k api.LeftOut) []api.LeftOut {
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

// leftOutSteps returns the steps of a verdict's chain about content that is not collected.
func leftOutSteps(all []api.LeftOut) []view.Step {
	var out []view.Step
	for _, words := range api.LeftOutWords(all) {
		out = append(out, view.Step{Layer: view.LayerEvidence, Fact: words + ".",
			Rule: "content that a source does not collect is listed and is not a gap", Result: "not collected"})
	}
	return out
}
