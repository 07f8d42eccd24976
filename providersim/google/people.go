package google

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/providersim/rest"
)

// Streams of the ground truth that contacts make.
const (
	StreamContacts = "contacts"
	StreamOthers   = "other_contacts"
	StreamGroups   = "groups"
)

// touchPerson changes a contact, or an unsaved recipient of mail, a minute later.
func (g *Google) touchPerson(p *rest.Row) {
	g.Touch(p)
	p.Data["metadata"] = jsonObject{"objectType": "PERSON",
		"sources": []any{jsonObject{"type": "CONTACT", "id": strings.TrimPrefix(p.ID, "people/c"),
			"updateTime": g.Advance(time.Minute).Format("2006-01-02T15:04:05.000000Z")}}}
}

// addGroup adds a label of contacts. The first is the system's.
func (g *Google) addGroup() *rest.Row {
	n := len(g.Rows[StreamGroups])
	id, title, kind := fmt.Sprintf("contactGroups/%x", 0x5f00+n), fmt.Sprintf("Friends %d", n), "USER_CONTACT_GROUP"
	if n == 0 {
		id, title, kind = "contactGroups/myContacts", "myContacts", "SYSTEM_CONTACT_GROUP"
	}
	return g.Add(StreamGroups, &rest.Row{ID: id, Data: jsonObject{"name": title, "groupType": kind}})
}

func (g *Google) addPerson() *rest.Row {
	n, groups := len(g.Rows[StreamContacts]), g.Rows[StreamGroups]
	p := &rest.Row{ID: fmt.Sprintf("people/c%d", 5_170_000_000_000_000+g.NextID()*7919)}
	field := jsonObject{"primary": true, "source": jsonObject{"type": "CONTACT", "id": "1"}}
	given, family := fmt.Sprintf("Given%d", n), fmt.Sprintf("Family%d", n%9)
	p.Data = jsonObject{
		"etag": "%Eg", "names": []any{jsonObject{"metadata": field, "displayName": given + " " + family, "givenName": given,
			"familyName": family, "displayNameLastFirst": family + ", " + given, "unstructuredName": given + " " + family}},
		"emailAddresses": []any{jsonObject{"metadata": field, "value": fmt.Sprintf("person%d@example.com", n), "type": "home",
			"formattedType": "Home"}},
		"photos": []any{jsonObject{"metadata": field, "url": "https://lh3.example.com/photo.jpg", "default": n%2 == 0}},
	}
	if len(groups) > 0 {
		p.Data["memberships"] = []any{jsonObject{"metadata": field,
			"contactGroupMembership": jsonObject{"contactGroupId": "x",
				"contactGroupResourceName": groups[n%len(groups)].ID}},
			jsonObject{"metadata": field, "domainMembership": jsonObject{"inViewerDomain": false}}}
	}
	if n%3 == 1 {
		p.Data["phoneNumbers"] = []any{jsonObject{"metadata": field, "value": "+46 70 000 00 00",
			"canonicalForm": "+46700000000", "type": "mobile"}}
		p.Data["addresses"] = []any{jsonObject{"metadata": field, "streetAddress": "Storgatan 1", "city": "Lund",
			"postalCode": "222 22", "country": "Sweden", "countryCode": "SE", "type": "home",
			"formattedValue": "Storgatan 1\n222 22 Lund"}}
		p.Data["organizations"] = []any{jsonObject{"metadata": field, "name": "Harbour Museum", "title": "Guide",
			"department": "Visits"}}
		p.Data["biographies"] = []any{jsonObject{"metadata": field, "value": "Met at the boat fair",
			"contentType": "TEXT_PLAIN"}}
		p.Data["birthdays"] = []any{jsonObject{"metadata": field, "date": jsonObject{"month": 4, "day": 7}}}
		p.Data["events"] = []any{jsonObject{"metadata": field, "type": "anniversary",
			"date": jsonObject{"year": 2011, "month": 6, "day": 18}}}
		p.Data["nicknames"] = []any{jsonObject{"metadata": field, "value": "Skipper"}}
		p.Data["urls"] = []any{jsonObject{"metadata": field, "value": "https://boats.example.com", "type": "homePage"}}
		p.Data["relations"] = []any{jsonObject{"metadata": field, "person": "Siv", "type": "sister"}}
		p.Data["imClients"] = []any{jsonObject{"metadata": field, "username": "skipper", "protocol": "jabber"}}
		p.Data["genders"] = []any{jsonObject{"metadata": field, "value": "female", "formattedValue": "Female"}}
		p.Data["occupations"] = []any{jsonObject{"metadata": field, "value": "Pilot"}}
		p.Data["fileAses"] = []any{jsonObject{"metadata": field, "value": "Skipper, the"}}
		p.Data["calendarUrls"] = []any{jsonObject{"metadata": field, "url": "https://boats.example.com/busy",
			"type": "freeBusy"}}
		p.Data["sipAddresses"] = []any{jsonObject{"metadata": field, "value": "sip:skipper@example.com", "type": "home"}}
		p.Data["userDefined"] = []any{jsonObject{"metadata": field, "key": "Boat", "value": "Havsbris"}}
	}
	if n%7 == 3 { // only an organization is known
		delete(p.Data, "names")
		p.Data["organizations"] = []any{jsonObject{"metadata": field, "name": "Ferry Line"}}
	}
	g.touchPerson(g.Add(StreamContacts, p))
	return p
}

func (g *Google) addOtherContact() *rest.Row {
	n := g.NextID()
	p := &rest.Row{ID: fmt.Sprintf("otherContacts/c%d", 6_180_000_000_000_000+n*7919), Data: jsonObject{"etag": "%EgM",
		"emailAddresses": []any{jsonObject{"metadata": jsonObject{"primary": true},
			"value": fmt.Sprintf("written%d@example.com", n)}}}}
	g.touchPerson(g.Add(StreamOthers, p))
	return p
}

func renderPerson(p *rest.Row) jsonObject {
	if p.Gone {
		meta := maps.Clone(p.Data["metadata"].(jsonObject))
		meta["deleted"] = true
		return jsonObject{"resourceName": p.ID, "etag": "%Eg", "metadata": meta}
	}
	o := maps.Clone(p.Data)
	o["resourceName"] = p.ID
	return o
}

// servePeople serves a list of people, with only the requested fields.
func (g *Google) servePeople(r *http.Request, mask, member, collection string, totals ...string) rest.Answer {
	q := r.URL.Query()
	fields := strings.Split(q.Get(mask), ",")
	if fields[0] == "" {
		return g.Refuse(r, rest.BadParameter, mask)
	}
	pager := rest.Pager{Size: "pageSize", Most: 1000, Items: member, Since: "syncToken"}
	if q.Has("requestSyncToken") || q.Has("syncToken") {
		pager.Sync = "nextSyncToken"
	}
	return g.serveRows(r, pager, collection, nil, func(p *rest.Row) jsonObject {
		o := renderPerson(p)
		maps.DeleteFunc(o, func(name string, _ any) bool {
			return name != "resourceName" && name != "etag" && !slices.Contains(fields, name)
		})
		return o
	}, totals...)
}

func (g *Google) renderGroup(x *rest.Row) jsonObject {
	o := jsonObject{"resourceName": x.ID, "etag": "g", "name": x.Data["name"], "formattedName": x.Data["name"],
		"groupType": x.Data["groupType"]}
	members := rest.Filter(g.Live(StreamContacts), func(p *rest.Row) bool {
		all, _ := p.Data["memberships"].([]any)
		return len(all) > 0 && all[0].(jsonObject)["contactGroupMembership"].(jsonObject)["contactGroupResourceName"] == x.ID
	})
	if len(members) > 0 { // a number that is nothing is left out
		o["memberCount"] = len(members)
	}
	return o
}

// peopleOperations are the mutations of contacts; each changes one object.
func (g *Google) peopleOperations() map[string]func() string {
	edit := func(collection string, change func(*rest.Row)) func() string {
		return g.EditRow(collection, nil, func(p *rest.Row) { change(p); g.touchPerson(p) })
	}
	remove := func(p *rest.Row) { p.Gone = true }
	return map[string]func() string{
		"add_people": func() string { return g.addPerson().ID },
		"add_others": func() string { return g.addOtherContact().ID },
		"add_groups": func() string { return g.addGroup().ID },
		"edit_people": edit(StreamContacts, func(p *rest.Row) {
			p.Data["biographies"] = []any{jsonObject{"value": fmt.Sprintf("Edited at %d", g.Seq), "contentType": "TEXT_PLAIN"}}
		}),
		"delete_people": edit(StreamContacts, remove), "delete_others": edit(StreamOthers, remove),
		"rename_groups": g.EditRow(StreamGroups, nil,
			func(x *rest.Row) { x.Data["name"] = fmt.Sprintf("Renamed at %d", g.Seq) }),
		"delete_groups": func() string { return g.Delete(StreamGroups, func(x *rest.Row) bool { return x.N > 0 }) },
	}
}

// peopleTruth adds the people and labels that exist, as the API serves them.
func (g *Google) peopleTruth(add rest.AddTruth) {
	for _, stream := range []string{StreamContacts, StreamOthers} {
		for _, p := range g.Rows[stream] {
			o := renderPerson(p)
			o["updated_at"] = p.Data["metadata"].(jsonObject)["sources"].([]any)[0].(jsonObject)["updateTime"]
			add(stream, p.ID, o, p.Gone)
		}
	}
	for _, x := range g.Rows[StreamGroups] {
		add(StreamGroups, x.ID, g.renderGroup(x), x.Gone)
	}
}
