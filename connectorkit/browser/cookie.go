package browser

import (
	"context"
	"net/url"
	"strings"
)

// Cookie returns the value of a cookie that the site's own scripts can read, such as the id of a device or of a
// workspace. It returns "" when there is none.
func (p *Page) Cookie(ctx context.Context, name string) string {
	home, err := url.Parse(p.b.site.Home)
	if err != nil {
		return ""
	}
	all, err := browserCookies(ctx, p.b.process)
	if err != nil {
		return ""
	}
	for _, c := range all {
		domain := strings.TrimPrefix(c.Domain, ".")
		if c.Name == name && !c.HTTPOnly && (home.Hostname() == domain || strings.HasSuffix(home.Hostname(), "."+domain)) {
			return c.Value
		}
	}
	return ""
}
