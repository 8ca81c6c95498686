/*
 * Model of the race between a backend that takes a weak lock on the fast path
 * (weak) and two that take a strong lock on the same relation (strong), with the
 * shortcut of the patch "Don't lock idle backends when taking a strong lock": the
 * strong locker skips the backend if its LWLock is free and the word of its home
 * group is zero.
 *
 *    spin -a strong-lock.pml && cc -O2 -DSAFETY -o pan pan.c && ./pan
 *
 * explores all interleavings, and must report "errors: 0".  Each of these
 * must report an error:
 *
 *    spin -DNO_BARRIER -a ...   no barrier after the counter is incremented
 *    spin -DNO_STATE -a ...     only the word is looked at, not the LWLock
 *    spin -DWORD_FIRST -a ...   the word is read before the LWLock's state
 *    spin -DNO_WEAK_BARRIER -a ...
 *                               the backend reads the counter before others see
 *                               that it holds the LWLock (no FastPathBarrier)
 *
 * Plain stores go to a store buffer of one entry, which reaches memory at any
 * later time, at a barrier, or with the process' next atomic operation.  Taking
 * and releasing LWLocks are atomic operations with full barriers.
 */

byte count;              /* counter of strong lockers, in memory */
bool word;               /* the weak lock is in the backend's array */
bool lwlock;             /* the backend's fpInfoLock is held */
bool main_weak;          /* the weak lock is in the main lock table */
bool partition;          /* the lock partition's LWLock is held */

bool weak_held;          /* what the backends believe */
byte strong_held;

active proctype weak()
{
	bool refused, on_fast_path;

	/* LockAcquireExtended */
#ifdef NO_WEAK_BARRIER
	refused = (count != 0);
	atomic { !lwlock -> lwlock = true }
#else
	atomic { !lwlock -> lwlock = true }
	refused = (count != 0);
#endif
	if
	:: !refused -> word = true; on_fast_path = true
	:: refused
	fi;
	lwlock = false;      /* a store buffer would be emptied before this */

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

	/* LockRelease */
	if
	:: weak_held && on_fast_path ->
		atomic { !lwlock -> lwlock = true }
		if
		:: word -> weak_held = false; word = false; lwlock = false
		:: else ->
			lwlock = false;
			atomic { !partition -> partition = true }
			assert(main_weak);
			weak_held = false;
			main_weak = false;
			partition = false
		fi
	:: weak_held && !on_fast_path ->
		atomic { !partition -> partition = true }
		weak_held = false;
		main_weak = false;
		partition = false
	:: else
	fi
}

active [2] proctype strong()
{
	bool buffered, free, none, skip_it;

	/*
	 * BeginStrongLockAcquire.  Others' increments don't get lost, because of
	 * the spinlock, so the buffered store is an addition here.
	 */
	buffered = true;
#ifndef NO_BARRIER
	atomic { count++; buffered = false }
#endif

	/* FastPathTransferRelationLocks */
#ifdef WORD_FIRST
	none = !word;
	free = !lwlock;
#else
	free = !lwlock;
	none = !word;
#endif
#ifdef NO_STATE
	free = true;
#endif
	skip_it = free && none;
	if
	:: skip_it
	:: else ->
		atomic {
			!lwlock -> lwlock = true;
			if
			:: buffered -> count++; buffered = false
			:: else
			fi
		}
		if
		:: word ->
			atomic { !partition -> partition = true }
			main_weak = true;
			word = false;
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
