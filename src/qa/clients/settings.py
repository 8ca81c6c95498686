# Django's tests with PostgreSQL, and a line for each in the file $TEST_RESULTS
import os
import unittest

from django.test.runner import DiscoverRunner

DATABASES = {
	alias: {
		'ENGINE': 'django.db.backends.postgresql',
		'NAME': alias,
		'USER': 'postgres',
		'HOST': '127.0.0.1',
		'PORT': os.environ['PGPORT'],
	}
	for alias in ('default', 'other')
}
SECRET_KEY = 'x'
PASSWORD_HASHERS = ['django.contrib.auth.hashers.MD5PasswordHasher']
DEFAULT_AUTO_FIELD = 'django.db.models.AutoField'
USE_TZ = False
TEST_RUNNER = 'settings.Runner'


class Result(unittest.TextTestResult):
	def line(self, test, result):
		with open(os.environ['TEST_RESULTS'], 'a') as out:
			print(test.id().split(' ')[0], result, sep='\t', file=out)

	def addSuccess(self, test):
		super().addSuccess(test)
		self.line(test, 'passed')

	def addFailure(self, test, err):
		super().addFailure(test, err)
		self.line(test, 'failed')

	def addError(self, test, err):
		super().addError(test, err)
		self.line(test, 'error')

	def addSkip(self, test, reason):
		super().addSkip(test, reason)
		self.line(test, 'skipped')

	def addExpectedFailure(self, test, err):
		super().addExpectedFailure(test, err)
		self.line(test, 'skipped')

	def addUnexpectedSuccess(self, test):
		super().addUnexpectedSuccess(test)
		self.line(test, 'failed')

	def addSubTest(self, test, subtest, err):
		super().addSubTest(test, subtest, err)
		if err is not None:
			self.line(test, 'failed')


class Runner(DiscoverRunner):
	def get_resultclass(self):
		return Result
