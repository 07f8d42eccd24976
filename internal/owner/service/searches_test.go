package service

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/service/ownertest"
)

func TestSavedSearches(t *testing.T) {
	b := newServiceHarness(t)
	ctx := t.Context()
	if all, err := b.SavedSearches(ctx); err != nil || all == nil || len(all) != 0 {
		t.Errorf("before any: %v, %v", all, err)
	}
	pears, err := b.SaveSearch(ctx, api.NewSearch{Name: "  Pear\ntrees ", Address: "/search?q=pear&cursor=x"})
	b.requireNoError(err)
	if pears.Name != "Pear trees" || pears.Address != "/search?q=pear" || pears.ID == "" || !pears.CreatedAt.Equal(b.at) {
		t.Errorf("saved %+v", pears)
	}
	other, err := b.SaveSearch(ctx, api.NewSearch{Name: "Apples", Address: "/mail?source=c"})
	b.requireNoError(err)
	for name, c := range map[string]struct {
		given       api.NewSearch
		code, param string
	}{
		"no name": {api.NewSearch{Address: "/search?q=x"}, api.CodeInvalid, "name"},
		"long name": {api.NewSearch{Name: strings.Repeat("x", api.LongestName+1), Address: "/search?q=x"},
			api.CodeInvalid, "name"},
		"taken name": {api.NewSearch{Name: "Apples", Address: "/search?q=x"}, "search_exists", "name"},
		"other server": {api.NewSearch{Name: "Else", Address: "https://else.example/records?q=x"}, api.CodeInvalid,
			"address"},
		"nothing asked": {api.NewSearch{Name: "All", Address: "/records"}, api.CodeInvalid, "address"},
	} {
		_, err := b.SaveSearch(ctx, c.given)
		t.Run(name, func(t *testing.T) { ownertest.WantError(t, err, c.code, c.param) })
	}
	ownertest.WantError(t, b.RenameSearch(ctx, other.ID, "Pear trees"), "search_exists", "name")
	ownertest.WantError(t, b.RenameSearch(ctx, other.ID, " "), api.CodeInvalid, "name")
	ownertest.WantError(t, b.RenameSearch(ctx, "sea_none", "Plums"), api.CodeNotFound, "")
	b.requireNoError(b.RenameSearch(ctx, other.ID, "Plums"))
	other.Name = "Plums"
	all, err := b.SavedSearches(ctx)
	b.requireNoError(err)
	if diff := cmp.Diff([]api.SavedSearch{pears, other}, all); diff != "" {
		t.Error(diff)
	}
	b.requireNoError(b.DeleteSearch(ctx, pears.ID))
	ownertest.WantError(t, b.DeleteSearch(ctx, pears.ID), api.CodeNotFound, "")
	for i := range mostSearches - 1 {
		_, err := b.SaveSearch(ctx, api.NewSearch{Name: fmt.Sprint("n", i), Address: "/search?q=x"})
		b.requireNoError(err)
	}
	_, err = b.SaveSearch(ctx, api.NewSearch{Name: "one more", Address: "/search?q=x"})
	ownertest.WantError(t, err, "too_many_searches", "")
}
