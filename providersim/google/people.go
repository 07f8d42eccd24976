package google

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"
)

// person is a contact, or somebody who was written to and never saved.
type person struct {
	name string // of the resource
	seq  int
	gone bool
	data object
}

// group is a label of contacts.
type group struct {
	name, title string
	system      bool
	gone        bool
}

func (g *Google) touchPerson(p *person) {
	g.seq++
	p.seq = g.seq
	g.clock = g.clock.Add(time.Minute)
	p.data["metadata"] = object{"objectType": "PERSON", "sources": []any{object{"type": "CONTACT", "id": strings.TrimPrefix(p.name, "people/c"), "updateTime": g.clock.Format("2006-01-02T15:04:05.000000Z")}}}
}

func (g *Google) addGroup() *group {
	n := len(g.groups)
	x := &group{name: fmt.Sprintf("contactGroups/%x", 0x5f00+n), title: fmt.Sprintf("Friends %d", n)}
	if n == 0 {
		x = &group{name: "contactGroups/myContacts", title: "myContacts", system: true}
	}
	g.groups = append(g.groups, x)
	return x
}

func (g *Google) addPerson() *person {
	n := len(g.people)
	g.lastID++
	p := &person{name: fmt.Sprintf("people/c%d", 5_170_000_000_000_000+g.lastID*7919)}
	field := object{"primary": true, "source": object{"type": "CONTACT", "id": "1"}}
	given, family := fmt.Sprintf("Given%d", n), fmt.Sprintf("Family%d", n%9)
	p.data = object{
		"etag": "%Eg", "names": []any{object{"metadata": field, "displayName": given + " " + family, "givenName": given, "familyName": family, "displayNameLastFirst": family + ", " + given, "unstructuredName": given + " " + family}},
		"emailAddresses": []any{object{"metadata": field, "value": fmt.Sprintf("person%d@example.com", n), "type": "home", "formattedType": "Home"}},
		"photos":         []any{object{"metadata": field, "url": "https://lh3.example.com/photo.jpg", "default": n%2 == 0}},
	}
	if len(g.groups) > 0 {
		p.data["memberships"] = []any{object{"metadata": field, "contactGroupMembership": object{"contactGroupId": "x", "contactGroupResourceName": g.groups[n%len(g.groups)].name}},
			object{"metadata": field, "domainMembership": object{"inViewerDomain": false}}}
	}
	if n%3 == 1 {
		p.data["phoneNumbers"] = []any{object{"metadata": field, "value": "+46 70 000 00 00", "canonicalForm": "+46700000000", "type": "mobile"}}
		p.data["addresses"] = []any{object{"metadata": field, "streetAddress": "Storgatan 1", "city": "Lund", "postalCode": "222 22", "country": "Sweden", "countryCode": "SE", "type": "home", "formattedValue": "Storgatan 1\n222 22 Lund"}}
		p.data["organizations"] = []any{object{"metadata": field, "name": "Harbour Museum", "title": "Guide", "department": "Visits"}}
		p.data["biographies"] = []any{object{"metadata": field, "value": "Met at the boat fair", "contentType": "TEXT_PLAIN"}}
		p.data["birthdays"] = []any{object{"metadata": field, "date": object{"month": 4, "day": 7}}}
		p.data["events"] = []any{object{"metadata": field, "type": "anniversary", "date": object{"year": 2011, "month": 6, "day": 18}}}
		p.data["nicknames"] = []any{object{"metadata": field, "value": "Skipper"}}
		p.data["urls"] = []any{object{"metadata": field, "value": "https://boats.example.com", "type": "homePage"}}
		p.data["relations"] = []any{object{"metadata": field, "person": "Siv", "type": "sister"}}
		p.data["imClients"] = []any{object{"metadata": field, "username": "skipper", "protocol": "jabber"}}
		p.data["genders"] = []any{object{"metadata": field, "value": "female", "formattedValue": "Female"}}
		p.data["occupations"] = []any{object{"metadata": field, "value": "Pilot"}}
		p.data["fileAses"] = []any{object{"metadata": field, "value": "Skipper, the"}}
		p.data["calendarUrls"] = []any{object{"metadata": field, "url": "https://boats.example.com/busy", "type": "freeBusy"}}
		p.data["sipAddresses"] = []any{object{"metadata": field, "value": "sip:skipper@example.com", "type": "home"}}
		p.data["userDefined"] = []any{object{"metadata": field, "key": "Boat", "value": "Havsbris"}}
	}
	if n%7 == 3 { // one of whom only an organization is known
		delete(p.data, "names")
		p.data["organizations"] = []any{object{"metadata": field, "name": "Ferry Line"}}
	}
	g.people = append(g.people, p)
	g.touchPerson(p)
	return p
}

func (g *Google) addOther() *person {
	g.lastID++
	p := &person{name: fmt.Sprintf("otherContacts/c%d", 6_180_000_000_000_000+g.lastID*7919)}
	p.data = object{"etag": "%EgM", "emailAddresses": []any{object{"metadata": object{"primary": true}, "value": fmt.Sprintf("written%d@example.com", g.lastID)}}}
	g.others = append(g.others, p)
	g.touchPerson(p)
	return p
}

func (p *person) object() object {
	if p.gone {
		meta := maps.Clone(p.data["metadata"].(object))
		meta["deleted"] = true
		return object{"resourceName": p.name, "etag": "%Eg", "metadata": meta}
	}
	o := maps.Clone(p.data)
	o["resourceName"] = p.name
	return o
}

// badArgument is how the People API refuses a parameter.
func badArgument(name string) answer { return deny(400, "INVALID_ARGUMENT", "", "Invalid "+name) }

func tokenEnded() answer {
	return deny(400, "FAILED_PRECONDITION", "EXPIRED_SYNC_TOKEN", "Sync token is expired. Clear local cache and retry call without the sync token.")
}

func (g *Google) serveMe(r *http.Request) answer {
	if r.URL.Query().Get("personFields") == "" {
		return badArgument("personFields")
	}
	return ok(object{"resourceName": "people/1090" + fmt.Sprint(len(g.mail)), "etag": "%Eg"})
}

func (g *Google) serveConnections(r *http.Request) answer {
	return g.servePeople(r, "connections", "personFields", "connections", g.people)
}

func (g *Google) serveOthers(r *http.Request) answer {
	return g.servePeople(r, "otherContacts", "readMask", "otherContacts", g.others)
}

// servePeople serves a list of people, with the fields that were asked for and no others.
func (g *Google) servePeople(r *http.Request, list, mask, member string, people []*person) answer {
	fields := strings.Split(r.URL.Query().Get(mask), ",")
	if fields[0] == "" {
		return badArgument(mask)
	}
	var all []listed
	for _, p := range people {
		all = append(all, listed{p.seq, !p.gone, func() object {
			o := p.object()
			maps.DeleteFunc(o, func(name string, _ any) bool {
				return name != "resourceName" && name != "etag" && !slices.Contains(fields, name)
			})
			return o
		}})
	}
	return g.page(r, list, "pageSize", 1000, member, all, badArgument, tokenEnded())
}

func (g *Google) serveGroups(r *http.Request) answer {
	var all []listed
	for _, x := range g.groups {
		all = append(all, listed{0, !x.gone, func() object { return g.groupObject(x) }})
	}
	return g.page(r, "contactGroups", "pageSize", 1000, "contactGroups", all, badArgument, tokenEnded())
}

func (g *Google) groupObject(x *group) object {
	kind, count := "USER_CONTACT_GROUP", 0
	if x.system {
		kind = "SYSTEM_CONTACT_GROUP"
	}
	for _, p := range g.people {
		if p.gone || p.data["memberships"] == nil {
			continue
		}
		if p.data["memberships"].([]any)[0].(object)["contactGroupMembership"].(object)["contactGroupResourceName"] == x.name {
			count++
		}
	}
	o := object{"resourceName": x.name, "etag": "g", "name": x.title, "formattedName": x.title, "groupType": kind}
	if count > 0 { // a number that is nothing is left out
		o["memberCount"] = count
	}
	return o
}

// peopleOperations are the mutations of contacts; each changes one thing.
var peopleOperations = map[string]func(g *Google) string{
	"add_people": func(g *Google) string { return g.addPerson().name },
	"add_others": func(g *Google) string { return g.addOther().name },
	"edit_people": func(g *Google) string {
		return g.changePerson(g.people, func(p *person) {
			p.data["biographies"] = []any{object{"value": fmt.Sprintf("Edited at %d", g.seq), "contentType": "TEXT_PLAIN"}}
		})
	},
	"delete_people": func(g *Google) string { return g.changePerson(g.people, func(p *person) { p.gone = true }) },
	"delete_others": func(g *Google) string { return g.changePerson(g.others, func(p *person) { p.gone = true }) },
	"add_groups":    func(g *Google) string { return g.addGroup().name },
	"rename_groups": func(g *Google) string {
		x := g.groups[g.choice.IntN(len(g.groups))]
		x.title = fmt.Sprintf("Renamed at %d", g.seq)
		return x.name
	},
	"delete_groups": func(g *Google) string {
		x := g.groups[len(g.groups)-1]
		x.gone = true
		return x.name
	},
}

// changePerson changes one who is there.
func (g *Google) changePerson(from []*person, change func(*person)) string {
	there := slices.DeleteFunc(slices.Clone(from), func(p *person) bool { return p.gone })
	if len(there) == 0 {
		return ""
	}
	p := there[g.choice.IntN(len(there))]
	change(p)
	g.touchPerson(p)
	return p.name
}

// Streams of [Google.Truth] that contacts make.
const (
	StreamContacts = "contacts"
	StreamOthers   = "other_contacts"
	StreamGroups   = "groups"
)

// peopleTruth tells who and what labels there are, as the API serves them.
func (g *Google) peopleTruth(add func(stream, key string, data object, deleted bool)) {
	for stream, people := range map[string][]*person{StreamContacts: g.people, StreamOthers: g.others} {
		for _, p := range people {
			o := p.object()
			o["updated_at"] = p.data["metadata"].(object)["sources"].([]any)[0].(object)["updateTime"]
			add(stream, p.name, o, p.gone)
		}
	}
	for _, x := range g.groups {
		add(StreamGroups, x.name, g.groupObject(x), x.gone)
	}
}
