/*
 * Model of the race between a backend that takes weak locks on the fast path
 * (weak) and those that look for one of them without holding its LWLock, see
 * FastPathCanSkip() in lock.c: two that take a strong lock on the same relation
 * (strong), and one that only wants to know who holds a weak lock (conflicts).
 *
 *    spin -a strong-lock.pml && cc -O2 -DSAFETY -o pan pan.c && ./pan
 *
 * explores all interleavings, and must report "errors: 0".  Each of these
 * must report an error:
 *
 *    spin -DNO_BARRIER -a ...   no barrier after the counter is incremented
 *    spin -DNO_STATE -a ...     the LWLock's state isn't looked at
 *    spin -DSEARCH_FIRST -a ... the array is searched before the state is read
 *    spin -DNO_COUNT_FIRST -a ...
 *                               the count of displaced locks isn't incremented
 *                               before the slot is in use, but after releasing
 *    spin -DNO_WEAK_BARRIER -a ...
 *                               the backend reads the counter before others see
 *                               that it holds the LWLock
 *    spin -DNO_MSG_BARRIER -a ...
 *                               no barrier between sending the message and
 *                               looking for locks
 *
 * There are two groups of one slot each.  Relation Q's home is the first, so R,
 * the one that matters, is in the second if Q's lock was taken before.  Q has
 * another counter of strong locks: its lock comes and goes at any time.
 *
 * Plain stores of the strong lockers go to a store buffer of one entry, which
 * reaches memory at any later time, at a barrier, or with the process' next
 * atomic operation.  Taking and releasing LWLocks are atomic operations with
 * full barriers.  The backend's own stores to its array are visible in their
 * order, as on x86.
 */

#define NONE 0
#define Q    1
#define R    2

byte count;              /* counter of strong lockers, in memory */
byte relid[2];           /* OIDs in the slots; not cleared */
bool used[2];            /* the lock mode's bit of the slots */
byte displaced;          /* count of locks displaced from the first group */
bool lwlock;             /* the backend's fpInfoLock is held */
bool main_weak;          /* the weak lock on R is in the main lock table */
bool partition;          /* the lock partition's LWLock is held */
bool message;            /* an invalidation message was sent */

bool weak_held;          /* what the backends believe */
bool weak_ignorant;      /* ... it didn't see the message after taking the lock */
bool none_found;         /* ... nobody who might not know holds a lock */
byte strong_held;

/* Is R in the array?  Reads one thing at a time; with the LWLock or without. */
inline search(found)
{
	found = false;
	if
	:: used[0] ->
		if
		:: relid[0] == R -> found = true
		:: else
		fi
	:: else
	fi;
	if
	:: !found ->
		if
		:: displaced > 0 ->
			if
			:: used[1] ->
				if
				:: relid[1] == R -> found = true
				:: else
				fi
			:: else
			fi
		:: else
		fi
	:: else
	fi
}

/* The holder of the LWLock removes R. */
inline clear(s)
{
	used[s] = false;
	if
	:: s == 1 -> displaced--
	:: else
	fi
}

active proctype weak()
{
	bool refused, on_fast_path, has_q, again;
	byte s;

	/* A lock on another relation, or not */
	if
	:: true ->
		atomic { !lwlock -> lwlock = true }
		relid[0] = Q;
		used[0] = true;
		has_q = true;
		lwlock = false
	:: true
	fi;

acquire:
	/* LockAcquireExtended */
	on_fast_path = false;
#ifdef NO_WEAK_BARRIER
	refused = (count != 0);
	atomic { !lwlock -> lwlock = true }
#else
	atomic { !lwlock -> lwlock = true }
	refused = (count != 0);
#endif
	if
	:: !refused ->
		s = (has_q -> 1 : 0);
#ifndef NO_COUNT_FIRST
		if
		:: s == 1 -> displaced++
		:: else
		fi;
#endif
		relid[s] = R;
		used[s] = true;
		on_fast_path = true
	:: refused
	fi;
	lwlock = false;      /* a store buffer would be emptied before this */
#ifdef NO_COUNT_FIRST
	if
	:: on_fast_path && s == 1 -> displaced++
	:: else
	fi;
#endif

	if
	:: refused ->
		/* The primary lock table; waiting is left out */
		atomic { !partition -> partition = true }
		if
		:: strong_held == 0 -> main_weak = true; weak_held = true
		:: else
		fi;
		partition = false
	:: else -> weak_held = true
	fi;
	assert(!(weak_held && strong_held > 0));

	/* LockRelationOid: read invalidation messages */
	weak_ignorant = weak_held && !message;
	assert(!(weak_ignorant && none_found));

	/* The other lock may be released before this one, or be taken after it */
	if
	:: has_q ->
		atomic { !lwlock -> lwlock = true }
		used[0] = false;
		has_q = false;
		lwlock = false
	:: on_fast_path && s == 1 && !has_q ->
		atomic { !lwlock -> lwlock = true }
		relid[0] = Q;
		used[0] = true;
		has_q = true;
		lwlock = false
	:: true
	fi;

	/* LockRelease */
	if
	:: weak_held && on_fast_path ->
		atomic { !lwlock -> lwlock = true }
		if
		:: used[s] && relid[s] == R ->
			weak_held = false;
			weak_ignorant = false;
			clear(s);
			lwlock = false
		:: else ->
			lwlock = false;
			atomic { !partition -> partition = true }
			assert(main_weak);
			weak_held = false;
			weak_ignorant = false;
			main_weak = false;
			partition = false
		fi
	:: weak_held && !on_fast_path ->
		atomic { !partition -> partition = true }
		weak_held = false;
		weak_ignorant = false;
		main_weak = false;
		partition = false
	:: else
	fi;

	/* Once more, perhaps in the other slot */
	if
	:: !again -> again = true; goto acquire
	:: again
	fi
}

active [2] proctype strong()
{
	bool buffered, free, found;

	/*
	 * BeginStrongLockAcquire.  Others' increments don't get lost, because of
	 * the spinlock, so the buffered store is an addition here.
	 */
	buffered = true;
#ifndef NO_BARRIER
	atomic { count++; buffered = false }
#endif

	/* FastPathTransferRelationLocks */
#ifdef SEARCH_FIRST
	search(found);
	free = !lwlock;
#else
	free = !lwlock;
	if
	:: free -> search(found)
	:: else
	fi;
#endif
#ifdef NO_STATE
	free = true;
	search(found);
#endif
	if
	:: free && !found
	:: else ->
		atomic {
			!lwlock -> lwlock = true;
			if
			:: buffered -> count++; buffered = false
			:: else
			fi
		}
		search(found);
		if
		:: found ->
			atomic { !partition -> partition = true }
			main_weak = true;
			if
			:: used[0] && relid[0] == R -> clear(0)
			:: else -> clear(1)
			fi;
			partition = false
		:: else
		fi;
		lwlock = false
	fi;

	/* LockAcquireExtended; not waiting if there's a conflict */
	atomic {
		!partition -> partition = true;
		if
		:: buffered -> count++; buffered = false
		:: else
		fi
	}
	if
	:: !main_weak && strong_held == 0 ->
		strong_held++;
		assert(!weak_held);
		partition = false;
		atomic { !partition -> partition = true }
		strong_held--
	:: else
	fi;
	partition = false;
	count--
}

active proctype conflicts()
{
	bool buffered, free, found, conflict;

	/* What's committed before is in a message; with or without a barrier */
	buffered = true;
#ifndef NO_MSG_BARRIER
	atomic { message = true; buffered = false }
#endif

	/* GetLockConflicts */
	free = !lwlock;
	if
	:: free -> search(found)
	:: else
	fi;
	if
	:: free && !found
	:: else ->
		atomic {
			!lwlock -> lwlock = true;
			if
			:: buffered -> message = true; buffered = false
			:: else
			fi
		}
		search(found);
		conflict = found;
		lwlock = false
	fi;
	atomic {
		!partition -> partition = true;
		if
		:: buffered -> message = true; buffered = false
		:: else
		fi
	}
	none_found = !conflict && !main_weak;
	assert(!(weak_ignorant && none_found));
	partition = false
}
