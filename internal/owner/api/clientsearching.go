package api

import (
	"context"
	"net/http"
)

func (c *Client) SavedSearches(ctx context.Context) ([]SavedSearch, error) {
	return listOf[SavedSearch](ctx, c, "_ref", "searches")
}

func (c *Client) SaveSearch(ctx context.Context, s NewSearch) (SavedSearch, error) {
	var got SavedSearch
	err := c.send(ctx, http.MethodPost, s, &got, "_ref", "searches")
	return got, err
}

func (c *Client) RenameSearch(ctx context.Context, id, name string) error {
	body := struct {
		Name string `json:"name"`
	}{name}
	return c.send(ctx, http.MethodPatch, body, nil, "_ref", "searches", id)
}

func (c *Client) DeleteSearch(ctx context.Context, id string) error {
	return c.send(ctx, http.MethodDelete, nil, nil, "_ref", "searches", id)
}
