package service

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/service/faults"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// mostSearches bounds how many searches are kept: they are listed on a page.
const mostSearches = 100

// SavedSearches lists the searches that have a name.
func (s *Service) SavedSearches(ctx context.Context) ([]api.SavedSearch, error) {
	all, err := s.Store.Searches(ctx)
	if err != nil {
		return nil, faults.OwnerError(err, "list the saved searches")
	}
	out := make([]api.SavedSearch, len(all))
	for i, one := range all {
		out[i] = api.SavedSearch{ID: one.ID, Name: one.Name, Address: one.Address, CreatedAt: one.CreatedAt}
	}
	return out, nil
}

// SaveSearch saves a list of records under a name.
func (s *Service) SaveSearch(ctx context.Context, n api.NewSearch) (api.SavedSearch, error) {
	name, err := searchName(n.Name)
	if err != nil {
		return api.SavedSearch{}, err
	}
	address, ok := api.ListAddress(n.Address)
	if !ok {
		return api.SavedSearch{}, api.Invalid("address", "This is not the address of a search.",
			"Search or filter records first, then save what you see.")
	}
	all, err := s.Store.Searches(ctx)
	if err != nil {
		return api.SavedSearch{}, faults.OwnerError(err, "list the saved searches")
	}
	if len(all) >= mostSearches {
		return api.SavedSearch{}, &api.Error{Status: http.StatusConflict, Code: "too_many_searches",
			Message: fmt.Sprintf("%d searches are saved, and that is the most.", mostSearches),
			Next:    "Delete one that you do not use any more."}
	}
	one := store.Search{ID: "sea_" + strings.ToLower(rand.Text()[:10]), Name: name, Address: address, CreatedAt: s.Now()}
	if err := s.Store.AddSearch(ctx, one); err != nil {
		return api.SavedSearch{}, searchFault(err, "keep the search")
	}
	return api.SavedSearch{ID: one.ID, Name: one.Name, Address: one.Address, CreatedAt: one.CreatedAt}, nil
}

// RenameSearch changes the name of a saved search.
func (s *Service) RenameSearch(ctx context.Context, id, name string) error {
	name, err := searchName(name)
	if err != nil {
		return err
	}
	return searchFault(s.Store.RenameSearch(ctx, id, name), "rename the search")
}

// DeleteSearch forgets a saved search; what it finds stays.
func (s *Service) DeleteSearch(ctx context.Context, id string) error {
	return searchFault(s.Store.DeleteSearch(ctx, id), "delete the search")
}

func searchName(given string) (string, error) {
	name := text.Line(strings.TrimSpace(given))
	if !api.IsName(name) {
		return "", api.Invalid("name", fmt.Sprintf("A name has from 1 to %d characters.", api.LongestName),
			"Choose another name.")
	}
	return name, nil
}

func searchFault(err error, doing string) error {
	switch {
	case errors.Is(err, store.ErrExists):
		return &api.Error{Status: http.StatusConflict, Code: "search_exists", Param: "name", Err: err,
			Message: "A saved search has this name already.", Next: "Choose another name."}
	case errors.Is(err, store.ErrNotFound):
		return api.NotFound("There is no such saved search.", "Choose one of your saved searches.")
	}
	return faults.OwnerError(err, doing)
}
