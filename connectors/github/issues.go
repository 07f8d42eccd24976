package github

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/connectorkit/rest"
)

var errRepeatedPage = errors.New("the next page is one that was already read")

// issueCollector reads issues and pull requests in the order of their last update, oldest first. Each page starts at
// the time where the previous one ended, so changes cannot shift a page: a touched item moves to the end and is read
// there. GitHub's bound is inclusive and has whole seconds.
//
// Such a list shows no deletions. A walk from its beginning is therefore compared with the store, and repeated before
// anything is deleted.
type issueCollector struct{ run *rest.Run }

func collectIssues(r *rest.Run) connectorkit.Collector {
	return connectorkit.PagedStream{Stream: "issues", Page: (&issueCollector{r}).fetchNextPage}
}

func (l *issueCollector) fetchNextPage(ctx context.Context, at connectorkit.Cursor) (connectorkit.Page, error) {
	page, _, err := l.readIssuePage(ctx, at)
	if err == nil && !page.More {
		page.Whole = &connectorkit.Whole{Gone: func(ctx context.Context, keys []string) ([]string, error) {
			there, err := l.everything(ctx)
			return slices.DeleteFunc(slices.Clone(keys), func(key string) bool { return there[key] }), err
		}}
	}
	return page, err
}

// everything returns the ids of the whole list.
func (l *issueCollector) everything(ctx context.Context) (map[string]bool, error) {
	there := map[string]bool{}
	for at := (connectorkit.Cursor{}); ; {
		page, ids, err := l.readIssuePage(ctx, at)
		if err != nil {
			return there, err
		}
		if len(ids) < len(page.Records) {
			return there, connectorkit.ErrNotConfirmed // something could not be read, or is held back
		}
		for _, id := range ids {
			there[id] = true
		}
		if !page.More {
			return there, nil
		}
		if maps.Equal(page.Next, at) {
			return there, errRepeatedPage
		}
		at = page.Next
	}
}

// readIssuePage reads a page, and returns the ids of what could be read on it.
func (l *issueCollector) readIssuePage(ctx context.Context, at connectorkit.Cursor) (page connectorkit.Page,
	ids []string, err error) {
	got, err := l.run.ReadPage(ctx, "issues", rest.Ask{Page: at["next"], Since: at["since"], Version: at["etag"]})
	if err != nil {
		return page, nil, err
	}
	if got.Answer.Unchanged {
		return connectorkit.Page{Next: at, Records: withheldRecords(got.Answer)}, nil, nil
	}
	page = connectorkit.Page{Records: withheldRecords(got.Answer), More: got.Next != ""}
	newest, whole := at["since"], true
	for _, raw := range got.Items {
		item := rest.Item{Raw: raw}
		row := l.run.ReadItem("issues", item)
		page.Records = append(page.Records, row.Record)
		if row.Key == "" {
			whole = false
			continue
		}
		ids = append(ids, row.Key)
		newest = item.Text("updated_at")
	}
	page.Next = connectorkit.Cursor{"since": newest}
	switch {
	case newest != at["since"]:
	case page.More:
		page.Next["next"] = got.Next // one second holds more than a page
	case whole:
		page.Next["etag"] = got.Answer.Header.Get("ETag") // the same question can be asked with it
	}
	if newest == "" {
		delete(page.Next, "since")
	}
	return page, ids, nil
}
