package desktop

// The API identifies a component by one id everywhere: its id in the inventory,
// except for a directory domain. A domain's public id is its SID once known.
// The board and the store always use the id in the inventory.

// PublicID returns the API's id of a component.
func (b *Board) PublicID(k Kind, id ID) ID {
	if k != KindDomain {
		return id
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.publicID(k, id)
}

func (b *Board) publicID(k Kind, id ID) ID {
	if k == KindDomain {
		if sid := b.domainInfo(id).ID; sid != "" {
			return ID(sid)
		}
	}
	return id
}

func (b *Board) public(r Ref) Ref {
	r.ID = b.publicID(r.Kind, r.ID)
	return r
}

// ComponentID returns the inventory's id for an id of the API. It returns
// unknown ids unchanged.
func (b *Board) ComponentID(public ID) ID {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, id := range b.domains.ids {
		if b.publicID(KindDomain, id) == public {
			return id
		}
	}
	return public
}
