# lines.py FILE: a line for each test in JUnit's XML of pytest
import sys
import xml.etree.ElementTree

RESULT = {'failure': 'failed', 'error': 'error', 'skipped': 'skipped'}

for case in xml.etree.ElementTree.parse(sys.argv[1]).iter('testcase'):
	found = [RESULT[child.tag] for child in case if child.tag in RESULT]
	print(f"{case.get('classname')}::{case.get('name')}", found[0] if found else 'passed', sep='\t')
