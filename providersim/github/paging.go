package github

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/pdpp-go/pdpp/providersim"
)

const defaultPage = 30

// pageOf reads page and per_page; nonsense reads as the default, and too much is
// clamped.
func (g *GitHub) pageOf(q url.Values) (page, size int) {
	page, _ = strconv.Atoi(q.Get("page"))
	size, _ = strconv.Atoi(q.Get("per_page"))
	if size < 1 {
		size = min(defaultPage, g.cfg.MaxPage)
	}
	return max(1, page), min(size, g.cfg.MaxPage)
}

// list answers one page of everything that is there now. Pages are offsets: what
// changes between two pages shifts the second.
func list[T any](g *GitHub, r *http.Request, all []T, render func(T) object) answer {
	page, size := g.pageOf(r.URL.Query())
	from := min((page-1)*size, len(all))
	to := min(from+size, len(all))
	rows := make([]object, 0, to-from)
	for _, x := range all[from:to] {
		rows = append(rows, render(x))
	}
	return linked(r, ok(rows), page, (len(all)+size-1)/size)
}

// linked adds the Link header, unless this is the last page.
func linked(r *http.Request, a answer, page, last int) answer {
	to := func(n int) string {
		q := r.URL.Query()
		q.Set("page", strconv.Itoa(n))
		return "http://" + r.Host + r.URL.Path + "?" + q.Encode()
	}
	next, more := providersim.PageFaultFrom(r.Context()).Next(to(page), to(page+1), page < last)
	if !more {
		return a
	}
	return a.with("Link", fmt.Sprintf(`<%s>; rel="next", <%s>; rel="last"`, next, to(max(last, page))))
}

// sorted is a copy in order of time, then of id: newest first unless ascending.
func sorted[T any](all []T, at func(T) time.Time, id func(T) int64, ascending bool) []T {
	out := slices.Clone(all)
	slices.SortFunc(out, func(a, b T) int {
		order := cmp.Or(at(b).Compare(at(a)), cmp.Compare(id(b), id(a)))
		if ascending {
			return -order
		}
		return order
	})
	return out
}

// sinceOf reads since; a time that cannot be read answers 422.
func sinceOf(q url.Values) (time.Time, bool) {
	if !q.Has("since") {
		return time.Time{}, true
	}
	t, err := time.Parse(time.RFC3339, q.Get("since"))
	return t, err == nil
}

// oneOf holds a parameter to its documented values; absent is the first.
func oneOf(q url.Values, name string, values ...string) (string, bool) {
	if !q.Has(name) {
		return values[0], true
	}
	return q.Get(name), slices.Contains(values, q.Get(name))
}

func invalid(field string) answer {
	a := refuse(http.StatusUnprocessableEntity, "Validation Failed", docsRest)
	a.value.(object)["errors"] = []object{{"field": field, "code": "invalid"}}
	return a
}
