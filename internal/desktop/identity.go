package desktop

// The API names a component by one id everywhere. It is the id of the inventory,
// except for a directory domain: that is known by its SID as soon as somebody
// has told it, while the board and the store keep the id of the inventory, which
// is there from the start.

// PublicID returns the id that the API has for a component.
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

// ComponentID returns the id of the inventory for an id of the API. One that it
// does not know it returns as it is.
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
