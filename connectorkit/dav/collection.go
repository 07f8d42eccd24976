package dav

import (
	"context"
	"slices"
	"strings"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/connectorkit/contentline"
)

// Collection is a calendar or an address book.
type Collection struct {
	Path        string
	Name        string
	Description string
	Color       string
	Zone        string   // name of its zone
	Components  []string // what it may hold, as VEVENT; none means anything

	token string
	ctag  string
}

// HoldsComponent reports whether the collection may hold components of that name.
func (c Collection) HoldsComponent(component string) bool {
	return len(c.Components) == 0 || slices.Contains(c.Components, component)
}

const collectionProperties = `<resourcetype/><displayname/><sync-token/>` +
	`<x:getctag xmlns:x="http://calendarserver.org/ns/"/>` +
	`<k:calendar-description xmlns:k="urn:ietf:params:xml:ns:caldav"/><k:calendar-timezone ` +
	`xmlns:k="urn:ietf:params:xml:ns:caldav"/>` +
	`<k:supported-calendar-component-set xmlns:k="urn:ietf:params:xml:ns:caldav"/><a:addressbook-description ` +
	`xmlns:a="urn:ietf:params:xml:ns:carddav"/>` +
	`<i:calendar-color xmlns:i="http://apple.com/ns/ical/"/>`

// Collections returns the collections of the account; fresh requests them again.
func (a *Account) Collections(ctx context.Context, fresh bool) ([]Collection, error) {
	if a.known && !fresh {
		return a.listed, nil
	}
	if err := a.findHome(ctx); err != nil {
		return nil, err
	}
	m, err := a.propfind(ctx, a.home, "1", collectionProperties)
	if err != nil {
		return nil, err
	}
	var all []Collection
	for _, r := range m.Responses {
		p := r.foundProperties()
		at, ok := pathFromHref(r.Href)
		if !ok || !p.hasType(a.kind.Space, a.kind.Type) {
			continue
		}
		if !strings.HasSuffix(at, "/") {
			at += "/"
		}
		c := Collection{
			Path: at, Name: p.Name, Description: p.CalendarText + p.BookText, Color: p.Color, Zone: zoneName(p.Zone),
			token: strings.TrimSpace(p.SyncToken), ctag: strings.TrimSpace(p.CTag),
		}
		for _, comp := range p.Components.Comp {
			c.Components = append(c.Components, strings.ToUpper(comp.Name))
		}
		all = append(all, c)
	}
	slices.SortFunc(all, func(x, y Collection) int { return strings.Compare(x.Path, y.Path) })
	a.listed, a.known = slices.CompactFunc(all, func(x, y Collection) bool { return x.Path == y.Path }), true
	return a.listed, nil
}

// zoneName reads the name out of a description of a zone.
func zoneName(text string) string {
	for _, cal := range contentline.Parse([]byte(text)) {
		for _, c := range append(cal.Children, cal) {
			if name := c.Get("TZID").Value; name != "" {
				return name
			}
		}
	}
	return ""
}

// CollectionStream is the stream of the collections themselves.
func (a *Account) CollectionStream(stream string, record func(Collection) any) connectorkit.FullList {
	return connectorkit.FullList{Stream: stream,
		Page: func(ctx context.Context, _ connectorkit.PageRequest) (connectorkit.InventoryPage, error) {
			all, err := a.Collections(ctx, true)
			if err != nil {
				return connectorkit.InventoryPage{}, err
			}
			var page connectorkit.InventoryPage
			for _, c := range all {
				page.Things = append(page.Things, connectorkit.ListItem{Key: c.Path, Record: connectorkit.Upsert(record(c))})
			}
			return page, nil
		}}
}
